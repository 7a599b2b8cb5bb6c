/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rank/compare_order.h"
#include "analyze/compare/rank/compare_rank.h"
#include "analyze/compare/compare_sections.h"
#include "base/error.h"
#include "hand_comparison.h"
#include "hand_snapshot.h"

/* Five processes; of each one counter does the more in between the less the other does. */
static struct snapshot *moment(uint64_t boottime_ns, uint64_t step)
{
	static const char *const names[] = { "alpha", "beta", "gamma", "delta", "eta" };
	struct snapshot *snapshot = hand_new();

	for (uint32_t i = 0; i < 5; i++) {
		hand_task(snapshot, 10 + (int32_t)i, 10 + (int32_t)i, names[i], "/");
		hand_set(snapshot, METRIC_run_time_ns, i, 1000000000 + step * i * 1000000000);
		hand_set(snapshot, METRIC_wait_time_ns, i, 1000000000 + step * (5 - i) * 1000000);
	}
	snapshot_set_fact_text(snapshot, FACT_boot_id, "one");
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, boottime_ns);
	assert_int_equal(snapshot_finish(snapshot), 0);
	return snapshot;
}

static struct snapshot *first, *second;

static int take(void **state)
{
	(void)state;
	first = moment(1000000000000, 0);
	second = moment(1010000000000, 1);
	return 0;
}

static int drop(void **state)
{
	(void)state;
	snapshot_free(first);
	snapshot_free(second);
	return 0;
}

/* The groups of a comparison of run_time_ns, ordered as the text says. */
static void assert_order(const char *text, size_t limit, const char *const *keys, size_t count)
{
	const struct snapshot *a = first, *b = second;
	struct compare_side before = { &a, 1 }, after = { &b, 1 };
	struct compare_options options = { .axis = AXIS_PCOMM,
					   .sections = ALL_COMPARE_SECTIONS,
					   .limit = limit };
	struct compare_order order = { 0 };
	struct comparison *comparison = NULL;
	struct error error = { 0 };
	struct sort_spec spec;

	selection_add(&options.metrics, METRIC_run_time_ns);
	assert_int_equal(sort_spec_parse(text, &spec, &error), 0);
	assert_int_equal(compare_order_init(&order, &spec, &before, &after, &options, &error), 0);
	assert_int_equal(comparison_new(&before, &after, &options, &comparison, &error), 0);
	assert_int_equal(comparison->rows.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		assert_ptr_equal(row->metric, &metrics[METRIC_run_time_ns]);
		assert_string_equal(comparison->groups.data[row->group].key, keys[i]);
	}
	comparison_free(comparison);
	compare_order_clear(&order);
}

static void rows_come_in_the_order_of_a_metric_that_is_not_shown(void **state)
{
	static const char *const most[] = { "beta", "gamma", "delta", "eta" };
	static const char *const least[] = { "eta", "delta", "gamma", "beta" };

	(void)state;
	assert_order("wait_time_ns", 0, most, 4);
	assert_order("wait_time_ns:asc", 0, least, 4);
}

static void a_limit_keeps_the_rows_of_the_first_groups(void **state)
{
	static const char *const most[] = { "beta", "gamma" };

	(void)state;
	assert_order("wait_time_ns", 2, most, 2);
}

static struct sort_spec parse(const char *text)
{
	struct error error = { 0 };
	struct sort_spec spec;

	assert_int_equal(sort_spec_parse(text, &spec, &error), 0);
	return spec;
}

static void order_rows(const struct sort_spec *spec, struct comparison *comparison)
{
	uint32_t places[8];

	assert_in_range(comparison->groups.count, 0, 8);
	assert_int_equal(compare_order_places(spec, comparison, places), 0);
	assert_int_equal(rank_rows(comparison, places, comparison->groups.count), 0);
}

static void assert_groups(const struct comparison *comparison, const char *const *keys)
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
	order_rows(&down, &comparison);
	assert_groups(&comparison, (const char *[]){ "d", "a", "b", "unknown", "none" });
	order_rows(&up, &comparison);
	assert_groups(&comparison, (const char *[]){ "b", "a", "d", "unknown", "none" });
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
	order_rows(&spec, &comparison);
	assert_groups(&comparison, (const char *[]){ "more", "less", "low", "least" });
	hand_clear(&comparison);
}

static void rows_of_a_group_stay_together_the_best_first(void **state)
{
	struct comparison comparison = { 0 };
	struct sort_spec spec = parse("majflt,minflt:asc");
	uint32_t a = hand_group(&comparison, "a"), b = hand_group(&comparison, "b");

	(void)state;
	hand_change(&comparison, a, METRIC_majflt, 1, 2)->score = 0.8;
	hand_change(&comparison, b, METRIC_minflt, 1, 5)->score = 0.5;
	hand_change(&comparison, a, METRIC_minflt, 1, 9)->score = 0.7;
	hand_change(&comparison, b, METRIC_majflt, 1, 2)->score = 0.1;
	hand_change(&comparison, a, METRIC_nr_threads, 1, 2)->score = 0.6;
	order_rows(&spec, &comparison);
	assert_groups(&comparison, (const char *[]){ "b", "b", "a", "a", "a" });
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
	order_rows(&spec, &comparison);
	assert_int_equal(comparison.rows.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			rows_come_in_the_order_of_a_metric_that_is_not_shown, take, drop),
		cmocka_unit_test_setup_teardown(a_limit_keeps_the_rows_of_the_first_groups, take,
						drop),
		cmocka_unit_test(groups_go_by_their_change_and_those_without_one_come_last),
		cmocka_unit_test(large_changes_are_told_apart_exactly),
		cmocka_unit_test(rows_of_a_group_stay_together_the_best_first),
		cmocka_unit_test(nothing_can_be_ordered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
