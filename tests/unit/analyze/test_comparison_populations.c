/* SPDX-License-Identifier: MIT */
/* Snapshots that are compared as they stand, one by one or several to a side. */
#include "comparison_scene.h"

static void populations_that_change_places_change_the_sign(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
		struct compare_options options = pair_options(COMPARE_POPULATION, axis);
		CLEANUP(comparison_free_pointer) struct comparison *there = NULL;
		CLEANUP(comparison_free_pointer) struct comparison *back = NULL;

		pair_finish(&pair);
		there = compare_snapshots(pair.before, pair.after, &options);
		back = compare_snapshots(pair.after, pair.before, &options);
		assert_int_equal(there->rows.count, back->rows.count);
		for (size_t i = 0; i < there->rows.count; i++) {
			const struct comparison_row *row = &there->rows.data[i];
			const struct comparison_row *other =
				get_row(back, there->groups.data[row->group].key,
					metric_number(row->metric));

			assert_int_equal(row->delta.known, other->delta.known);
			assert_int_equal(row->delta.magnitude, other->delta.magnitude);
			assert_true(row->delta.real == -other->delta.real);
			assert_true(row->rate_before == other->rate_after);
		}
	}
}

static void populations_have_rates_by_the_lives_of_their_tasks(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 5000, 5000, "a", METRIC_run_time_ns, 500, 1200);
	comparison = pair_compare(&pair, COMPARE_POPULATION, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_run_time_ns);
	/* Started at 50 s. */
	assert_true(row->has_rate && row->rate_before == 10.0 && row->rate_after == 20.0);
}

static void a_side_that_has_no_value_has_no_rate(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 5000, 5000, "a", METRIC_run_time_ns, 500, 1200);
	hand_set(pair.before, METRIC_rchar, 0, 50);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 6000, 6000, "new", "/"), 50);
	comparison = pair_compare(&pair, COMPARE_POPULATION, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_run_time_ns);
	assert_true(row->has_rate_before && row->has_rate_after);
	row = get_row(comparison, "a", METRIC_rchar);
	assert_true(row->has_rate_before && row->rate_before == 1.0 && !row->has_rate_after);
	row = get_row(comparison, "new", METRIC_run_time_ns);
	assert_true(!row->has_rate_before && row->has_rate_after && row->rate_after == 1.0);
}

static void a_group_of_one_side_is_new_or_gone_and_tells_its_size(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 10, 10, "old", "/"), 70);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 20, 20, "new", "/"), 90);
	hand_set(pair.after, METRIC_rss_bytes, 0, 4096);
	comparison = pair_compare(&pair, COMPARE_POPULATION, AXIS_PCOMM);
	row = get_row(comparison, "old", METRIC_run_time_ns);
	assert_int_equal(row->state, ROW_GONE);
	assert_delta(comparison, "old", METRIC_run_time_ns, -70);
	row = get_row(comparison, "new", METRIC_run_time_ns);
	assert_int_equal(row->state, ROW_NEW);
	assert_delta(comparison, "new", METRIC_run_time_ns, 90);
	assert_int_equal(row->before.population, 0);
	assert_true(comparison->groups.data[row->group].has_rss);
	assert_int_equal(comparison->groups.data[row->group].rss_bytes, 4096);
	assert_int_equal(comparison->groups.data[row->group].run_time_ns, 90);
}

#define RUNS 5

/* Several runs of one server on each side, and what came of comparing them. */
struct runs {
	struct snapshot *before[RUNS], *after[RUNS];
	struct comparison *comparison;
};

static struct snapshot *run_of(uint64_t faults)
{
	struct snapshot *run = pair_snapshot("one", BEFORE_NS);

	hand_set(run, METRIC_majflt, hand_task(run, 10, 10, "server", "/"), faults);
	assert_int_equal(snapshot_finish(run), 0);
	return run;
}

/* The server does 100, 101 ... before, and `step` more after. */
static struct runs runs_compare(uint64_t step, const struct compare_options *options)
{
	struct runs runs = { 0 };
	struct compare_side before = { (const struct snapshot *const *)runs.before, RUNS };
	struct compare_side after = { (const struct snapshot *const *)runs.after, RUNS };
	struct error error = { 0 };

	for (size_t i = 0; i < RUNS; i++) {
		runs.before[i] = run_of(100 + i);
		runs.after[i] = run_of(100 + i + step);
	}
	assert_int_equal(comparison_new(&before, &after, options, &runs.comparison, &error), 0);
	return runs;
}

static void runs_free(struct runs *runs)
{
	comparison_free(runs->comparison);
	for (size_t i = 0; i < RUNS; i++) {
		snapshot_free(runs->before[i]);
		snapshot_free(runs->after[i]);
	}
}

static void several_runs_are_compared_by_their_medians_and_judged(void **state)
{
	const struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(runs_free) struct runs runs = runs_compare(50, &options);
	const struct comparison *comparison = runs.comparison;
	const struct comparison_row *row = get_row(comparison, "server", METRIC_majflt);

	(void)state;
	assert_int_equal(comparison->mode, COMPARE_POPULATION);
	assert_true(has_note(comparison, "several snapshots"));
	assert_int_equal(row->before.number, 102);
	assert_int_equal(row->after.number, 152);
	assert_int_equal(row->before.measured, 5);
	assert_delta(comparison, "server", METRIC_majflt, 50);
	assert_true(row->significance.tested && !row->significance.is_noise);
	assert_true(row->significance.before_low == 100 && row->significance.before_high == 104);
	assert_true(row->score > 0);
	assert_int_equal(comparison->groups.data[row->group].tasks_before, 1);
}

static void runs_that_overlap_are_noise_and_score_nothing(void **state)
{
	const struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(runs_free) struct runs runs = runs_compare(1, &options);
	const struct comparison_row *row = get_row(runs.comparison, "server", METRIC_majflt);

	(void)state;
	assert_true(row->significance.tested && row->significance.is_noise);
	assert_true(row->score == 0);
}

static void rows_within_noise_are_counted_instead_of_kept(void **state)
{
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(runs_free) struct runs runs = { 0 };

	(void)state;
	options.unchanged = false;
	options.limit = 1;
	runs = runs_compare(1, &options);
	assert_null(find_row(runs.comparison, "server", METRIC_majflt));
	assert_int_equal(runs.comparison->tallies[COMPARE_PRIMARY].noise, 1);
	assert_int_equal(runs.comparison->tallies[COMPARE_PRIMARY].beyond_limit, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(populations_that_change_places_change_the_sign),
		cmocka_unit_test(populations_have_rates_by_the_lives_of_their_tasks),
		cmocka_unit_test(a_side_that_has_no_value_has_no_rate),
		cmocka_unit_test(a_group_of_one_side_is_new_or_gone_and_tells_its_size),
		cmocka_unit_test(several_runs_are_compared_by_their_medians_and_judged),
		cmocka_unit_test(runs_that_overlap_are_noise_and_score_nothing),
		cmocka_unit_test(rows_within_noise_are_counted_instead_of_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
