/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hand_snapshot.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"

static void set(struct snapshot *snapshot, enum metric_id id, uint32_t row, uint64_t value)
{
	assert_int_equal(snapshot_need_column(snapshot, id), 0);
	snapshot_set(snapshot, id, row, value);
}

/* A process 10 with two threads, one of which was not measured if `second` is 0. */
static struct snapshot *make(uint64_t first, uint64_t second, uint64_t dead, uint64_t start_ns)
{
	struct snapshot *snapshot;
	uint32_t one, two;

	assert_int_equal(snapshot_new(&snapshot), 0);
	one = hand_task(snapshot, 10, 10, "a", "/");
	two = hand_task(snapshot, 10, 11, "b", "/");
	snapshot->processes[0].start_time_ns = start_ns;
	set(snapshot, METRIC_run_time_ns, one, first);
	if (second)
		set(snapshot, METRIC_run_time_ns, two, second);
	set(snapshot, METRIC_dead_run_time_ns, 0, dead);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, 1000);
	assert_int_equal(snapshot_finish(snapshot), 0);
	return snapshot;
}

static void exited_threads_count(void **state)
{
	struct snapshot *snapshot = make(5, 7, 100, 50);
	struct process_total *totals;

	(void)state;
	assert_int_equal(process_totals(snapshot, METRIC_run_time_ns, &totals), 0);
	assert_true(totals[0].is_known);
	assert_int_equal(totals[0].value, 112);
	free(totals);
	snapshot_free(snapshot);
}

static void a_thread_that_was_not_measured_makes_the_sum_unknown(void **state)
{
	struct snapshot *snapshot = make(5, 0, 100, 50);
	struct process_total *totals;

	(void)state;
	assert_int_equal(process_totals(snapshot, METRIC_run_time_ns, &totals), 0);
	assert_false(totals[0].is_known);
	free(totals);
	snapshot_free(snapshot);
}

/* Without what exited threads used, the sum is a bound, and no difference to one that has it. */
static void without_exited_threads_it_is_at_least(void **state)
{
	struct snapshot *before = make(5, 7, 100, 50), *now = make(6, 9, 0, 50);
	struct process_total *totals, *then;
	uint64_t grown;

	(void)state;
	snapshot_clear(now, METRIC_dead_run_time_ns, 0);
	assert_int_equal(process_totals(before, METRIC_run_time_ns, &then), 0);
	assert_int_equal(process_totals(now, METRIC_run_time_ns, &totals), 0);
	assert_false(then[0].is_least);
	assert_true(totals[0].is_least);
	assert_true(totals[0].is_known);
	assert_int_equal(totals[0].value, 15);
	assert_false(process_total_growth(now, totals, before, then, 0, &grown));
	free(totals);
	free(then);
	snapshot_free(before);
	snapshot_free(now);
}

static bool growth(struct snapshot *before, struct snapshot *now, uint64_t *ret)
{
	struct process_total *then, *totals;
	bool is_known;

	assert_int_equal(process_totals(before, METRIC_run_time_ns, &then), 0);
	assert_int_equal(process_totals(now, METRIC_run_time_ns, &totals), 0);
	is_known = process_total_growth(before, then, now, totals, 0, ret);
	free(then);
	free(totals);
	snapshot_free(before);
	snapshot_free(now);
	return is_known;
}

static void growth_is_of_the_same_process_only(void **state)
{
	uint64_t grown;

	(void)state;
	assert_true(growth(make(5, 7, 0, 50), make(6, 8, 10, 50), &grown));
	assert_int_equal(grown, 12);
	/* The number was used again by a process that began after the first snapshot. */
	assert_true(growth(make(500, 700, 0, 50), make(6, 8, 0, 2000), &grown));
	assert_int_equal(grown, 14);
	/* It began before it, and was not there: nobody knows. */
	assert_false(growth(make(500, 700, 0, 50), make(6, 8, 0, 60), &grown));
	/* Totals never fall. */
	assert_false(growth(make(5, 7, 0, 50), make(5, 6, 0, 50), &grown));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exited_threads_count),
		cmocka_unit_test(a_thread_that_was_not_measured_makes_the_sum_unknown),
		cmocka_unit_test(without_exited_threads_it_is_at_least),
		cmocka_unit_test(growth_is_of_the_same_process_only),
	};

	return cmocka_run_group_tests_name("process_totals", tests, NULL, NULL);
}
