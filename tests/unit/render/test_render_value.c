/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "hand_snapshot.h"
#include "metric/fold.h"
#include "render/table/table.h"
#include "render/value.h"

struct expected {
	const char *text;
	const char *csv;
	const char *json;
};

/* The second line. */
static char *value_line(char *printed)
{
	char *line = strchr(printed, '\n') + 1;

	line[strcspn(line, "\n")] = '\0';
	return line;
}

static void assert_value(const struct fold *fold, struct expected expected)
{
	const struct table_column column = { "value", TABLE_LEFT, .id = "v", .has_coverage = true };
	const struct terminal pipe = { 0 };
	char *texts[3] = { NULL };
	size_t lengths[3];
	FILE *outs[3];
	struct json json;

	for (size_t i = 0; i < 3; i++) {
		struct table table = { 0 };

		outs[i] = open_memstream(&texts[i], &lengths[i]);
		json = json_line_writer(outs[i]);
		table_add_column(&table, column);
		if (i == 1)
			table_stream_csv(&table, outs[i]);
		if (i == 2)
			table_stream_json(&table, &json);
		put_fold(&table, fold);
		if (i == 0)
			assert_int_equal(table_print(&table, &pipe, outs[i]), 0);
		table_clear(&table);
		fclose(outs[i]);
	}
	assert_string_equal(value_line(texts[0]), expected.text);
	assert_string_equal(value_line(texts[1]), expected.csv);
	texts[2][strlen(texts[2]) - 2] = '\0';
	/* What is absent has no key. */
	assert_string_equal(texts[2] + (expected.json[0] ? strlen("{\"v\":") : 1), expected.json);
	for (size_t i = 0; i < 3; i++)
		free(texts[i]);
}

static struct fold fold_of(enum metric_id id, size_t count, const uint64_t *values, size_t missing)
{
	struct fold fold;

	fold_init(&fold, &metrics[id]);
	for (size_t i = 0; i < count; i++)
		fold_add(&fold, values[i]);
	while (missing--)
		fold_skip(&fold);
	fold_finish(&fold);
	return fold;
}

#define FOLD(id, missing, ...)                                                                     \
	fold_of(METRIC_##id, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),               \
		(uint64_t[]){ __VA_ARGS__ }, missing)

static void numbers_are_scaled_for_people_and_exact_for_programs(void **state)
{
	struct fold large = FOLD(rchar, 0, UINT64_MAX);
	struct fold time = FOLD(run_time_ns, 0, 1234567, 0);
	struct fold zero = FOLD(majflt, 0, 0);

	(void)state;
	assert_value(&large,
		     (struct expected){ "16.0 EiB", "18446744073709551615",
					"{\"value\":18446744073709551615,\"measured\":1}" });
	assert_value(&time, (struct expected){ "1.23 ms", "1234567",
					       "{\"value\":1234567,\"measured\":2}" });
	assert_value(&zero, (struct expected){ "0", "0", "{\"value\":0,\"measured\":1}" });
}

static void absent_is_not_zero_and_part_of_a_group_has_a_star(void **state)
{
	struct fold none = fold_of(METRIC_majflt, 0, NULL, 3);
	struct fold part = FOLD(majflt, 2, 5);

	(void)state;
	assert_value(&none, (struct expected){ "-", "", "" });
	assert_value(&part, (struct expected){ "5*", "5", "{\"value\":5,\"measured\":1}" });
}

static void ordinals_are_ranges_and_may_be_negative(void **state)
{
	struct fold same = FOLD(nice, 0, (uint64_t)-5, (uint64_t)-5);
	struct fold range = FOLD(nice, 0, (uint64_t)-20, 19, 0);

	(void)state;
	assert_value(&same,
		     (struct expected){ "-5", "-5", "{\"min\":-5,\"max\":-5,\"measured\":2}" });
	assert_value(&range, (struct expected){ "-20..19", "-20..19",
						"{\"min\":-20,\"max\":19,\"measured\":3}" });
}

static void categories_are_their_most_frequent_text(void **state)
{
	struct fold all = FOLD(state, 0, 'S', 'S');
	struct fold most = FOLD(state, 1, 'S', 'R', 'S', 'S');
	struct fold flag = FOLD(ext_enabled, 0, 1);
	struct fold policy = FOLD(policy, 0, 1);

	(void)state;
	assert_value(&all,
		     (struct expected){ "S", "S", "{\"mode\":\"S\",\"count\":2,\"measured\":2}" });
	assert_value(&most, (struct expected){ "S (3/4)*", "S",
					       "{\"mode\":\"S\",\"count\":3,\"measured\":4}" });
	assert_value(&flag, (struct expected){ "true", "true",
					       "{\"mode\":true,\"count\":1,\"measured\":1}" });
	assert_value(&policy,
		     (struct expected){ "SCHED_FIFO", "SCHED_FIFO",
					"{\"mode\":\"SCHED_FIFO\",\"count\":1,\"measured\":1}" });
}

static struct fold fold_cpus(const char *first, unsigned first_count, const char *second,
			     unsigned second_count)
{
	struct fold fold;

	fold_init(&fold, &metrics[METRIC_cpu_affinity]);
	fold_add_cpus(&fold, first, first_count);
	fold_add_cpus(&fold, second, second_count);
	fold_finish(&fold);
	return fold;
}

static void cpu_sets_are_sizes_with_the_list_when_there_is_one(void **state)
{
	struct fold same = fold_cpus("0-1,8", 3, "0-1,8", 3);
	struct fold mixed = fold_cpus("0", 1, "0-1", 2);
	struct fold equal_size = fold_cpus("0", 1, "1", 1);
	struct fold hostile = fold_cpus("\x1b[2J", 0, "\x1b[2J", 0);

	(void)state;
	assert_value(&same, (struct expected){
				    "3 cpus (0-1,8)", "\"0-1,8\"",
				    "{\"min\":3,\"max\":3,\"list\":\"0-1,8\",\"measured\":2}" });
	assert_value(&mixed, (struct expected){ "1-2 cpus (mixed)", "1..2 cpus",
						"{\"min\":1,\"max\":2,\"measured\":2}" });
	assert_value(&equal_size, (struct expected){ "1 cpu (mixed)", "1..1 cpus",
						     "{\"min\":1,\"max\":1,\"measured\":2}" });
	assert_value(&hostile,
		     (struct expected){
			     "0 cpus (\\x1b[2J)", "\\x1b[2J",
			     "{\"min\":0,\"max\":0,\"list\":\"\\\\x1b[2J\",\"measured\":2}" });
}

static void derived_whole_numbers_are_exact_and_may_be_negative(void **state)
{
	struct fold inputs[2] = { FOLD(allocated_bytes, 0, 1), FOLD(deallocated_bytes, 0, 1025) };
	struct fold ratio[2] = { FOLD(wait_sum, 0, 1), FOLD(wait_count, 0, 3) };
	struct fold fold;

	(void)state;
	fold_formula(&fold, &metrics[METRIC_live_heap_estimate], inputs);
	assert_value(&fold,
		     (struct expected){ "-1.00 KiB", "-1024", "{\"value\":-1024,\"measured\":1}" });
	inputs[0] = FOLD(allocated_bytes, 0, UINT64_MAX);
	fold_formula(&fold, &metrics[METRIC_live_heap_estimate], inputs);
	assert_value(&fold, (struct expected){ "16.0 EiB", "18446744073709550590",
					       "{\"value\":18446744073709550590,\"measured\":1}" });
	fold_formula(&fold, &metrics[METRIC_avg_wait_ns], ratio);
	assert_value(&fold, (struct expected){ "0.333 ns", "0.3333333333333333",
					       "{\"value\":0.3333333333333333,\"measured\":1}" });
}

static void assert_csv_field(const char *text, const char *expected)
{
	CLEANUP(table_clear) struct table table = { 0 };
	CLEANUP(free_pointer) char *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);

	table_add_column(&table, (struct table_column){ .id = "v" });
	table_stream_csv(&table, out);
	put_text(&table, text);
	fclose(out);
	assert_string_equal(value_line(printed), expected);
}

static void csv_fields_are_quoted_when_they_must_be_and_never_break_a_line(void **state)
{
	static const char *const examples[][2] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "a,b", "\"a,b\"" },
		{ "say \"hi\"", "\"say \"\"hi\"\"\"" },
		{ "two\nlines", "\"two\\x0alines\"" },
		{ "\xff\x1b[0m", "\\xff\\x1b[0m" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		assert_csv_field(examples[i][0], examples[i][1]);
	}
}

/* A name that a stranger chose is not run by who opens the table; a number stays one. */
static void a_csv_field_is_never_a_formula(void **state)
{
	static const char *const examples[][2] = {
		{ "=1+1", "\"'=1+1\"" },
		{ "+cmd|' /C calc'!A0", "\"'+cmd|' /C calc'!A0\"" },
		{ "-", "\"'-\"" },
		{ "-1+2", "\"'-1+2\"" },
		{ "@SUM(1,2)", "\"'@SUM(1,2)\"" },
		{ "=a\"b", "\"'=a\"\"b\"" },
		{ "\t=1", "\"'\\x09=1\"" },
		{ "\r=1", "\"'\\x0d=1\"" },
		{ "  =1", "\"'  =1\"" },
		{ "\uff1d1", "\"'\uff1d1\"" },
		{ "-5", "-5" },
		{ "+0.5", "+0.5" },
		{ "a=b", "a=b" },
		{ "0-3", "0-3" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		assert_csv_field(examples[i][0], examples[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_scaled_for_people_and_exact_for_programs),
		cmocka_unit_test(absent_is_not_zero_and_part_of_a_group_has_a_star),
		cmocka_unit_test(ordinals_are_ranges_and_may_be_negative),
		cmocka_unit_test(categories_are_their_most_frequent_text),
		cmocka_unit_test(cpu_sets_are_sizes_with_the_list_when_there_is_one),
		cmocka_unit_test(derived_whole_numbers_are_exact_and_may_be_negative),
		cmocka_unit_test(csv_fields_are_quoted_when_they_must_be_and_never_break_a_line),
		cmocka_unit_test(a_csv_field_is_never_a_formula),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
