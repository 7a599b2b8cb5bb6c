/* SPDX-License-Identifier: MIT */
/* Intervals as snapshots, and the comparison of two of them. */
#include "comparison_scene.h"

#include <errno.h>

#include "analyze/compare/interval_snapshot.h"

#define SECOND UINT64_C(1000000000)

static struct snapshot *make_interval(struct pair *pair)
{
	struct error error = { 0 };

	pair_finish(pair);
	if (interval_snapshot_make(pair->before, pair->after, "a..b", &error) < 0)
		fail_msg("%s", error.message);
	return pair->after;
}

static uint64_t sum_of(const struct snapshot *snapshot, enum metric_id id)
{
	uint64_t sum = 0, value;

	for (uint32_t row = 0; row < snapshot_rows(snapshot, id); row++)
		if (snapshot_get(snapshot, id, row, &value))
			sum += value;
	return sum;
}

static void an_interval_has_what_stayed_was_born_and_ended(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	const struct snapshot *interval = make_interval(&pair);
	uint64_t value;

	(void)state;
	assert_int_equal(interval->interval_ns, AFTER_NS - BEFORE_NS);
	assert_true(snapshot_is_finished(interval));
	/* 500 + 60 stayed, 70 was born, 80 by those that ended; 5 + 3 by the process that is new. */
	assert_int_equal(sum_of(interval, METRIC_run_time_ns), 500 + 60 + 70 + 80 + 5 + 3);
	for (uint32_t row = 0; row < interval->task_count; row++)
		if (strcmp(snapshot_text(interval, interval->tasks[row].comm), "quiet") == 0)
			assert_false(snapshot_get(interval, METRIC_run_time_ns, row, &value));
}

static void what_does_not_count_up_stays(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	const struct snapshot *interval;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_run_time_ns, 1, 5);
	hand_set(pair.before, METRIC_rss_bytes, process_row(pair.before, 10), 4096);
	hand_set(pair.after, METRIC_rss_bytes, process_row(pair.after, 10), 8192);
	interval = make_interval(&pair);
	assert_int_equal(sum_of(interval, METRIC_rss_bytes), 8192);
}

static uint32_t cgroup_row(struct snapshot *snapshot, const char *path)
{
	uint32_t row;

	assert_int_equal(
		sheet_add_row(&snapshot->sheets[SHEET_CGROUPS], hand_text(snapshot, path), &row),
		0);
	return row;
}

static void set_usage(struct snapshot *snapshot, uint32_t row, uint64_t usage)
{
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], row, "cpu.stat usage_usec",
				   CELL_NUMBER, usage),
			 0);
}

static void cgroups_and_the_host_have_their_growth(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	const struct snapshot *interval;
	const struct column *usage;
	uint64_t value;

	(void)state;
	both(&pair, 10, 10, "server", METRIC_run_time_ns, 1, 5);
	set_usage(pair.before, cgroup_row(pair.before, "/a"), 100);
	set_usage(pair.before, cgroup_row(pair.before, "/again"), 900);
	set_usage(pair.after, cgroup_row(pair.after, "/new"), 7);
	set_usage(pair.after, cgroup_row(pair.after, "/a"), 130);
	set_usage(pair.after, cgroup_row(pair.after, "/again"), 5);
	snapshot_note_number(pair.before, SHEET_HOST, "stat ctxt", 1000);
	snapshot_note_number(pair.after, SHEET_HOST, "stat ctxt", 1500);
	snapshot_note_number(pair.after, SHEET_HOST, "meminfo MemFree", 77);
	interval = make_interval(&pair);
	usage = sheet_find(&interval->sheets[SHEET_CGROUPS], "cpu.stat usage_usec");
	assert_true(column_get(usage, 0, &value) == CELL_NUMBER && value == 7);
	assert_true(column_get(usage, 1, &value) == CELL_NUMBER && value == 30);
	assert_true(column_get(usage, 2, &value) == CELL_ABSENT);
	assert_true(column_get(sheet_find(&interval->sheets[SHEET_HOST], "stat ctxt"), 0, &value) ==
			    CELL_NUMBER &&
		    value == 500);
	assert_true(column_get(sheet_find(&interval->sheets[SHEET_HOST], "meminfo MemFree"), 0,
			       &value) == CELL_NUMBER &&
		    value == 77);
}

static void other_boots_and_the_past_are_refused(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	struct error error = { 0 };

	(void)state;
	pair_finish(&pair);
	assert_int_equal(interval_snapshot_make(pair.after, pair.before, "a..b", &error), -EINVAL);
	assert_non_null(strstr(error.message, "older"));
	error = (struct error){ 0 };
	assert_int_equal(interval_snapshot_make(pair.before, pair.before, "a..b", &error), -EINVAL);
	assert_non_null(strstr(error.message, "'a..b' is not an interval: no time is between"));
	error = (struct error){ 0 };
	snapshot_set_fact_text(pair.after, FACT_boot_id, "another");
	assert_int_equal(interval_snapshot_make(pair.before, pair.after, "a..b", &error), -EINVAL);
	assert_non_null(strstr(error.message, "different boots"));
	assert_int_equal(pair.after->interval_ns, 0);
}

/* An interval of one process, of so many seconds in which it burnt so many ms. */
static struct snapshot *worked(const char *boot, uint64_t seconds, uint64_t ms, uint64_t rss)
{
	struct pair pair = { pair_snapshot(boot, BEFORE_NS),
			     pair_snapshot(boot, BEFORE_NS + seconds * SECOND) };

	both(&pair, 10, 10, "server", METRIC_run_time_ns, 500 * SECOND,
	     500 * SECOND + ms * 1000000);
	hand_set(pair.after, METRIC_rss_bytes, process_row(pair.after, 10), rss);
	make_interval(&pair);
	snapshot_free(pair.before);
	return pair.after;
}

static void two_intervals_are_compared_by_what_is_done_in_a_second(void **state)
{
	CLEANUP(pair_free)
	struct pair pair = { worked("one", 10, 5000, 100), worked("two", 20, 15000, 150) };
	CLEANUP(comparison_free_pointer)
	struct comparison *comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	const struct comparison_row *row = get_row(comparison, "server", METRIC_run_time_ns);

	(void)state;
	assert_int_equal(comparison->mode, COMPARE_INTERVALS);
	assert_int_equal(row->values, VALUES_PER_SECOND);
	assert_int_equal(row->before.shape, VALUE_REAL);
	assert_true(row->before.real == 5e8 && row->after.real == 75e7);
	assert_true(row->delta.known && row->delta.real == 25e7);
	assert_false(row->has_rate);
	assert_delta(comparison, "server", METRIC_rss_bytes, 50);
	assert_true(has_note(comparison, "in 10.000 s against 20.000 s"));
}

static void an_interval_is_not_compared_with_a_moment(void **state)
{
	CLEANUP(pair_free)
	struct pair pair = { worked("one", 10, 5000, 100), pair_snapshot("one", AFTER_NS) };
	struct compare_side before = { (const struct snapshot *const *)&pair.before, 1 };
	struct compare_side after = { (const struct snapshot *const *)&pair.after, 1 };
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct comparison *comparison;
	struct error error = { 0 };

	(void)state;
	pair_finish(&pair);
	assert_int_equal(comparison_new(&before, &after, &options, &comparison, &error), -EINVAL);
	assert_non_null(strstr(error.message, "A..B C..D"));
}

static void several_intervals_a_side_are_tested(void **state)
{
	struct snapshot *first[3], *second[3];
	struct compare_side sides[] = { { (const struct snapshot *const *)first, 3 },
					{ (const struct snapshot *const *)second, 3 } };
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct comparison *comparison = NULL;
	const struct comparison_row *row;
	struct error error = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		first[i] = worked("one", 10, 5000 + 10 * i, 1);
		second[i] = worked("two", 5 + i, (5 + i) * 800, 1);
	}
	assert_int_equal(comparison_new(&sides[0], &sides[1], &options, &comparison, &error), 0);
	row = get_row(comparison, "server", METRIC_run_time_ns);
	assert_true(row->significance.tested && !row->significance.is_noise);
	assert_true(row->before.real == 501e6 && row->after.real == 8e8);
	comparison_free(comparison);
	for (int i = 0; i < 3; i++) {
		snapshot_free(first[i]);
		snapshot_free(second[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_has_what_stayed_was_born_and_ended),
		cmocka_unit_test(what_does_not_count_up_stays),
		cmocka_unit_test(cgroups_and_the_host_have_their_growth),
		cmocka_unit_test(other_boots_and_the_past_are_refused),
		cmocka_unit_test(two_intervals_are_compared_by_what_is_done_in_a_second),
		cmocka_unit_test(an_interval_is_not_compared_with_a_moment),
		cmocka_unit_test(several_intervals_a_side_are_tested),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
