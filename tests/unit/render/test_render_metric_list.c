/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "metric/metric.h"
#include "render/metric_list.h"
#include "render/scdoc.h"

static void json(FILE *out)
{
	metric_list_json(out);
}

static void text(FILE *out)
{
	assert_int_equal(metric_list_text(out, 0), 0);
}

static void man(FILE *out)
{
	assert_int_equal(metric_list_man(out), 0);
}

static char *printed_by(void (*print)(FILE *out))
{
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	print(out);
	fclose(out);
	return printed;
}

static void assert_part(const char *whole, const char *part)
{
	if (!strstr(whole, part))
		fail_msg("no '%s'", part);
}

static void every_metric_is_in_every_format(void **state)
{
	void (*const formats[])(FILE *) = { text, json };

	(void)state;
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		char *printed = printed_by(formats[f]);

		for (int id = 0; id < METRIC_COUNT; id++)
			assert_part(printed, metrics[id].name);
		free(printed);
	}
}

static void json_says_all_that_the_table_knows(void **state)
{
	char *printed = printed_by(json);

	(void)state;
	assert_part(printed, "\"format\": \"taskscope-metrics\",\n  \"version\": 1,\n");
	assert_part(
		printed,
		"{\"name\":\"slice_max\",\"unit\":\"ns\",\"kind\":\"peak\",\"scope\":\"thread\","
		"\"fold\":\"max\",\"section\":\"scheduling\",\"gate\":\"SCHEDSTATS\","
		"\"class\":\"cfs-only\",\"sources\":[\"task sched slice_max\","
		"\"bpf stats slice_max\"],\"derived\":false,\"inputs\":[],\"formula\":null,"
		"\"help\":\"");
	assert_part(printed, "\"derived\":true,\"inputs\":[\"run_time_ns\",\"wait_time_ns\"],"
			     "\"formula\":\"run_time_ns / (run_time_ns + wait_time_ns)\"");
	free(printed);
}

static void text_fits_a_hundred_columns_without_blanks_at_the_end(void **state)
{
	char *printed = printed_by(text);

	(void)state;
	for (const char *at = printed; *at; at += strcspn(at, "\n") + 1) {
		size_t length = strcspn(at, "\n");

		assert_true(length <= 100);
		assert_true(length == 0 || at[length - 1] != ' ');
	}
	free(printed);
}

static void the_man_page_escapes_what_scdoc_would_format(void **state)
{
	char *printed = printed_by(man);

	(void)state;
	assert_part(printed, "taskscope-metrics(7)\n\n# NAME\n");
	assert_part(printed,
		    "*run\\_time\\_ns* (ns, counter, of a thread, sum) \\[SCHED\\_INFO\\]\n\t");
	free(printed);
}

static void words_for_scdoc_are_escaped_but_for_what_it_writes_itself(void **state)
{
	struct text words = { 0 };

	(void)state;
	scdoc_append(&words, "*_delay [a|b] <c> `d` 1++ \\ # ~ ...");
	assert_string_equal(text_string(&words), "\\*\\_delay \\[a\\|b\\] \\<c\\> \\`d\\` 1\\+\\+ "
						 "\\\\ \\# ~ ...");
	text_free(&words);
}

static void a_line_that_begins_with_a_dash_is_no_list_for_scdoc(void **state)
{
	struct text words = { 0 };

	(void)state;
	scdoc_append(&words, "--one - two\n--three");
	assert_string_equal(text_string(&words), "\\--one - two\n\\--three");
	text_free(&words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_is_in_every_format),
		cmocka_unit_test(json_says_all_that_the_table_knows),
		cmocka_unit_test(text_fits_a_hundred_columns_without_blanks_at_the_end),
		cmocka_unit_test(the_man_page_escapes_what_scdoc_would_format),
		cmocka_unit_test(words_for_scdoc_are_escaped_but_for_what_it_writes_itself),
		cmocka_unit_test(a_line_that_begins_with_a_dash_is_no_list_for_scdoc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
