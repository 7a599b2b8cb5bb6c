/* SPDX-License-Identifier: MIT */
/* Each kind of metric has its own way to differ. */
#include "comparison_scene.h"

#include <math.h>

static void a_counter_that_fell_began_again(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "alone", METRIC_majflt, 100, 4);
	both(&pair, 20, 20, "pool", METRIC_majflt, 100, 4);
	both(&pair, 20, 21, "pool", METRIC_majflt, 10, 13);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "alone", METRIC_majflt);
	assert_int_equal(row->state, ROW_RESET);
	assert_false(row->delta.known);
	row = get_row(comparison, "pool", METRIC_majflt);
	assert_delta(comparison, "pool", METRIC_majflt, 3);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
}

/* User and system time are one measured sum split by samples: a part may be corrected. */
static void a_counter_that_is_worked_out_may_waver(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_utime_ns, 1000, 990);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "a", METRIC_utime_ns, -10);
}

static void ratios_are_of_the_interval_and_sides_of_the_lives(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_run_time_ns, 900, 1000);
	hand_set(pair.before, METRIC_wait_time_ns, 0, 100);
	hand_set(pair.after, METRIC_wait_time_ns, 0, 400);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_cpu_efficiency);
	assert_int_equal(row->section, COMPARE_DERIVED);
	assert_true(fabs(row->before.real - 0.9) < 1e-9);
	assert_true(fabs(row->after.real - 1000.0 / 1400) < 1e-9);
	assert_true(fabs(row->interval.real - 0.25) < 1e-9);
	assert_true(fabs(row->delta.real - (0.25 - 0.9)) < 1e-9);
	assert_false(row->has_rate);
}

/* A ratio of what exited threads ran and others waited is one of nobody. */
static void a_ratio_is_of_tasks_that_have_all_its_inputs(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	uint32_t ended;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_run_time_ns, 900, 1000);
	hand_set(pair.before, METRIC_wait_time_ns, 0, 100);
	hand_set(pair.after, METRIC_wait_time_ns, 0, 200);
	ended = hand_task(pair.before, 10, 11, "b", "/");
	hand_set(pair.before, METRIC_run_time_ns, ended, 50);
	hand_set(pair.before, METRIC_wait_time_ns, ended, 50);
	both(&pair, 10, 12, "b", METRIC_wait_time_ns, 7, 7);
	dead(&pair, 10, METRIC_dead_run_time_ns, 0, 50 + 8000);
	hand_set(pair.before, METRIC_voluntary_csw, 0, 10);
	hand_set(pair.after, METRIC_voluntary_csw, 0, 20);
	hand_set(pair.before, METRIC_nonvoluntary_csw, 0, 10);
	hand_set(pair.after, METRIC_nonvoluntary_csw, 0, 20);
	hand_set(pair.before, METRIC_voluntary_csw, ended, 0);
	hand_set(pair.before, METRIC_nonvoluntary_csw, ended, 0);
	dead(&pair, 10, METRIC_dead_voluntary_csw, 0, 0);
	dead(&pair, 10, METRIC_dead_nonvoluntary_csw, 0, 20);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_cpu_efficiency);
	assert_true(fabs(row->interval.real - 0.5) < 1e-9);
	assert_true(row->interval.measured < row->interval.population);
	assert_delta(comparison, "a", METRIC_run_time_ns, 100 + 8000);
	row = get_row(comparison, "a", METRIC_wait_time_ns);
	assert_int_equal(row->after.measured, 2);
	assert_int_equal(row->after.population, 3);
	row = get_row(comparison, "a", METRIC_involuntary_csw_ratio);
	assert_true(fabs(row->interval.real - 0.75) < 1e-9);
	comparison_free(comparison);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_COMM);
	row = get_row(comparison, "b", METRIC_wait_time_ns);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
}

static void a_ratio_without_an_event_is_what_it_was(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_run_time_ns, 900, 900);
	hand_set(pair.before, METRIC_wait_time_ns, 0, 100);
	hand_set(pair.after, METRIC_wait_time_ns, 0, 100);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_cpu_efficiency);
	assert_int_equal(row->state, ROW_SAME);
	assert_int_equal(row->interval.shape, VALUE_ABSENT);
}

static void a_heap_that_shrinks_has_a_difference_below_nothing(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_allocated_bytes, 1000, 1100);
	hand_set(pair.before, METRIC_deallocated_bytes, 0, 200);
	hand_set(pair.after, METRIC_deallocated_bytes, 0, 700);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_live_heap_estimate);
	assert_int_equal(row->before.shape, VALUE_NUMBER);
	assert_int_equal(row->before.number, 800);
	assert_delta(comparison, "a", METRIC_live_heap_estimate, -400);
	assert_true(row->has_rate && row->per_second == -40);
}

static void gauges_peaks_and_lows_are_compared_as_they_stand(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_wait_max, 50, 90);
	both(&pair, 10, 11, "a", METRIC_wait_max, 70, 70);
	for (uint32_t row = 0; row < 2; row++) {
		hand_set(pair.before, METRIC_cpu_delay_min_ns, row, row ? 0 : 9);
		hand_set(pair.after, METRIC_cpu_delay_min_ns, row, row ? 4 : 9);
	}
	dead(&pair, 10, METRIC_rss_bytes, 1 << 20, 1 << 19);
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_delta(comparison, "a", METRIC_wait_max, 20);
	assert_int_equal(get_row(comparison, "a", METRIC_wait_max)->after.number, 90);
	assert_delta(comparison, "a", METRIC_cpu_delay_min_ns, -5);
	assert_delta(comparison, "a", METRIC_rss_bytes, -(1 << 19));
	assert_false(get_row(comparison, "a", METRIC_rss_bytes)->has_rate);
}

static void settings_are_texts_and_ranges_that_changed_or_not(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_policy, 0, 1);
	hand_set(pair.before, METRIC_nice, 0, 0);
	hand_set(pair.after, METRIC_nice, 0, (uint64_t)-5);
	hand_set(pair.before, METRIC_cpu_affinity, 0, hand_text(pair.before, "0-3"));
	/* The same text has another number in the other snapshot. */
	hand_text(pair.after, "something else");
	hand_set(pair.after, METRIC_cpu_affinity, 0, hand_text(pair.after, "0-3"));
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_policy);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_string_equal(row->before.text, "SCHED_OTHER");
	assert_string_equal(row->after.text, "SCHED_FIFO");
	assert_false(row->delta.known);
	assert_delta(comparison, "a", METRIC_nice, -5);
	row = get_row(comparison, "a", METRIC_cpu_affinity);
	assert_int_equal(row->state, ROW_SAME);
	assert_string_equal(row->after.text, "0-3");
}

static void what_one_side_did_not_measure_is_absent_with_its_reason(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;

	(void)state;
	both(&pair, 10, 10, "a", METRIC_minflt, 1, 1);
	hand_set(pair.before, METRIC_rchar, 0, 100);
	snapshot_set_absent(pair.after, METRIC_rchar, "run as root");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	row = get_row(comparison, "a", METRIC_rchar);
	assert_int_equal(row->state, ROW_ABSENT);
	assert_string_equal(row->reason, "run as root");
	assert_int_equal(row->before.number, 100);
	assert_int_equal(row->after.shape, VALUE_ABSENT);
	assert_int_equal(row->after.population, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_counter_that_fell_began_again),
		cmocka_unit_test(a_counter_that_is_worked_out_may_waver),
		cmocka_unit_test(ratios_are_of_the_interval_and_sides_of_the_lives),
		cmocka_unit_test(a_ratio_is_of_tasks_that_have_all_its_inputs),
		cmocka_unit_test(a_ratio_without_an_event_is_what_it_was),
		cmocka_unit_test(a_heap_that_shrinks_has_a_difference_below_nothing),
		cmocka_unit_test(gauges_peaks_and_lows_are_compared_as_they_stand),
		cmocka_unit_test(settings_are_texts_and_ranges_that_changed_or_not),
		cmocka_unit_test(what_one_side_did_not_measure_is_absent_with_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
