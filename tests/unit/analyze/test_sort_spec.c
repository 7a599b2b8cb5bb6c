/* SPDX-License-Identifier: MIT */
/* Orders of groups: how they are written, and what they do to a comparison. */
#include "hand_comparison.h"

#include <stdio.h>

#include "analyze/group/sort_spec.h"
#include "base/error.h"

static void assert_refused(const char *text, const char *part, size_t position)
{
	struct sort_spec spec = { .count = 77 };
	struct error error = { 0 };

	assert_true(sort_spec_parse(text, &spec, &error) < 0);
	assert_int_equal(spec.count, 77);
	if (!strstr(error.message, part))
		fail_msg("'%s' does not say '%s'", error.message, part);
	assert_int_equal(error.caret, position);
}

static struct sort_spec parse(const char *text)
{
	struct error error = { 0 };
	struct sort_spec spec;

	if (sort_spec_parse(text, &spec, &error) < 0)
		fail_msg("%s", error.message);
	return spec;
}

static void the_largest_comes_first_unless_told_otherwise(void **state)
{
	struct sort_spec spec = parse("wait_time_ns, cpu_efficiency : ASC ,majflt:desc");

	(void)state;
	assert_int_equal(spec.count, 3);
	assert_int_equal(spec.keys[0].metric, METRIC_wait_time_ns);
	assert_false(spec.keys[0].ascending);
	assert_int_equal(spec.keys[1].metric, METRIC_cpu_efficiency);
	assert_true(spec.keys[1].ascending);
	assert_false(spec.keys[2].ascending);
}

static void what_cannot_be_an_order_is_pointed_at(void **state)
{
	(void)state;
	assert_refused("", "missing", 0);
	assert_refused("majflt,", "missing", 7);
	assert_refused("majflt,,minflt", "missing", 7);
	assert_refused("majflt, run_tim_ns",
		       "at character 9: there is no metric 'run_tim_ns'; did you mean run_time_ns?",
		       8);
	assert_refused("majflt:up", "at character 8: the direction must be asc or desc, not 'up'",
		       7);
	assert_refused("majflt:", "asc or desc", 7);
	assert_refused("majflt,minflt,majflt:asc", "majflt is named twice", 14);
	assert_refused("state", "its values are names", 0);
	assert_refused("cpu_affinity", "its values are names", 0);
	assert_refused("memory.current", "no metric", 0);
}

static void at_most_sixteen_metrics_make_an_order(void **state)
{
	char text[2048] = "";
	struct sort_spec spec;
	struct error error = { 0 };
	size_t count = 0, length = 0;

	(void)state;
	for (int id = 0; id < METRIC_COUNT && count < SORT_KEYS_MAX + 1; id++) {
		if (metrics[id].kind != KIND_COUNTER)
			continue;
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s",
					   count ? "," : "", metrics[id].name);
		count++;
	}
	assert_true(sort_spec_parse(text, &spec, &error) < 0);
	*strrchr(text, ',') = '\0';
	assert_int_equal(parse(text).count, SORT_KEYS_MAX);
}

static void assert_order(const struct comparison *comparison, const char *const *keys)
{
	for (size_t i = 0; i < comparison->rows.count; i++)
		assert_string_equal(comparison->groups.data[comparison->rows.data[i].group].key,
				    keys[i]);
}

static void groups_go_by_their_change_and_those_without_one_come_last(void **state)
{
	struct comparison comparison = { 0 };
	struct sort_spec down = parse("majflt"), up = parse("majflt:asc");

	(void)state;
	hand_change(&comparison, hand_group(&comparison, "a"), METRIC_majflt, 10, 10);
	hand_change(&comparison, hand_group(&comparison, "b"), METRIC_majflt, 10, 3);
	hand_change(&comparison, hand_group(&comparison, "none"), METRIC_minflt, 0, 1000);
	hand_change(&comparison, hand_group(&comparison, "d"), METRIC_majflt, 0, 5);
	hand_change(&comparison, hand_group(&comparison, "unknown"), METRIC_majflt, 0, 99)
		->delta.known = false;
	assert_int_equal(sort_spec_apply(&down, &comparison), 0);
	assert_order(&comparison, (const char *[]){ "d", "a", "b", "none", "unknown" });
	assert_int_equal(sort_spec_apply(&up, &comparison), 0);
	assert_order(&comparison, (const char *[]){ "b", "a", "d", "none", "unknown" });
	hand_clear(&comparison);
}

static void large_changes_are_told_apart_exactly(void **state)
{
	struct comparison comparison = { 0 };
	struct sort_spec spec = parse("run_time_ns");

	(void)state;
	hand_change(&comparison, hand_group(&comparison, "less"), METRIC_run_time_ns, 0,
		    UINT64_MAX - 1);
	hand_change(&comparison, hand_group(&comparison, "more"), METRIC_run_time_ns, 0,
		    UINT64_MAX);
	hand_change(&comparison, hand_group(&comparison, "least"), METRIC_run_time_ns, UINT64_MAX,
		    0);
	hand_change(&comparison, hand_group(&comparison, "low"), METRIC_run_time_ns, UINT64_MAX, 1);
	assert_int_equal(sort_spec_apply(&spec, &comparison), 0);
	assert_order(&comparison, (const char *[]){ "more", "less", "low", "least" });
	hand_clear(&comparison);
}

static void rows_of_a_group_stay_together_in_the_order_that_they_had(void **state)
{
	struct comparison comparison = { 0 };
	struct sort_spec spec = parse("majflt,minflt:asc");
	uint32_t a = hand_group(&comparison, "a"), b = hand_group(&comparison, "b");

	(void)state;
	hand_change(&comparison, a, METRIC_majflt, 1, 2);
	hand_change(&comparison, b, METRIC_minflt, 1, 5);
	hand_change(&comparison, a, METRIC_minflt, 1, 9);
	hand_change(&comparison, b, METRIC_majflt, 1, 2);
	hand_change(&comparison, a, METRIC_nr_threads, 1, 2);
	assert_int_equal(sort_spec_apply(&spec, &comparison), 0);
	assert_order(&comparison, (const char *[]){ "b", "b", "a", "a", "a" });
	assert_ptr_equal(comparison.rows.data[0].metric, &metrics[METRIC_minflt]);
	assert_ptr_equal(comparison.rows.data[2].metric, &metrics[METRIC_majflt]);
	assert_ptr_equal(comparison.rows.data[4].metric, &metrics[METRIC_nr_threads]);
	hand_clear(&comparison);
}

static void nothing_can_be_ordered(void **state)
{
	struct comparison comparison = { 0 };
	struct sort_spec spec = parse("majflt");

	(void)state;
	assert_int_equal(sort_spec_apply(&spec, &comparison), 0);
	assert_int_equal(comparison.rows.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_comes_first_unless_told_otherwise),
		cmocka_unit_test(what_cannot_be_an_order_is_pointed_at),
		cmocka_unit_test(at_most_sixteen_metrics_make_an_order),
		cmocka_unit_test(groups_go_by_their_change_and_those_without_one_come_last),
		cmocka_unit_test(large_changes_are_told_apart_exactly),
		cmocka_unit_test(rows_of_a_group_stay_together_in_the_order_that_they_had),
		cmocka_unit_test(nothing_can_be_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
