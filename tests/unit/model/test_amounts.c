/* SPDX-License-Identifier: MIT */
/* Amounts: sums, kinds of waits, and that nothing falls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/tree/amounts.h"
#include "some_amounts.h"

#define NS(amounts, name) amounts_get(&(amounts), AMOUNT_##name)

static struct amounts times_of(uint64_t wall_ns, uint64_t run_ns)
{
	struct amounts amounts = { 0 };

	set_times(&amounts, wall_ns, run_ns);
	return amounts;
}

static void every_wait_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (int i = 0; i < WAIT_REASON_COUNT; i++) {
		assert_non_null(waits[i].help);
		assert_int_equal(wait_find(waits[i].name), i);
	}
	assert_int_equal(wait_find("nothing"), -1);
	assert_int_equal(wait_find(""), -1);
}

static void the_three_amounts_of_a_reason_are_those_of_its_metrics(void **state)
{
	(void)state;
	for (int i = 0; i < WAIT_REASON_COUNT; i++) {
		static const char *const endings[] = { "ns", "count", "max_ns" };
		struct amounts amounts = { 0 };
		uint64_t value = 1;

		amounts_set_waited(&amounts, i, (struct waited){ 1, 2, 3 });
		for (int id = 0; id < AMOUNT_COUNT; id++) {
			char name[64];

			if (!amounts_has(&amounts, id))
				continue;
			snprintf(name, sizeof(name), "wait_%s_%s", waits[i].name,
				 endings[value - 1]);
			assert_string_equal(metrics[amount_metrics[id]].name, name);
			assert_int_equal(amounts_get(&amounts, id), value++);
		}
		assert_int_equal(value, 4);
		assert_int_equal(amounts_waited(&amounts, i).max_ns, 3);
	}
}

static void costly_waits_and_waits_for_work_are_summed_apart(void **state)
{
	struct amounts amounts = times_of(1000, 100);

	(void)state;
	amounts_set(&amounts, AMOUNT_wait_time_ns, 10);
	amounts_set(&amounts, AMOUNT_wait_lock_ns, 20);
	amounts_set(&amounts, AMOUNT_wait_disk_ns, 30);
	amounts_set(&amounts, AMOUNT_wait_poll_ns, 400);
	amounts_set(&amounts, AMOUNT_wait_other_ns, 440);
	assert_int_equal(amounts_costly_ns(&amounts), 60);
	assert_int_equal(amounts_for_work_ns(&amounts), 400);
	assert_int_equal(amounts_blocked_ns(&amounts), 890);
	assert_int_equal(amounts_gap_ns(&amounts), 0);
	amounts_set(&amounts, AMOUNT_run_time_ns, 105);
	assert_int_equal(amounts_gap_ns(&amounts), -5);
	amounts_set(&amounts, AMOUNT_wall_time_ns, 1007);
	assert_int_equal(amounts_gap_ns(&amounts), 2);
}

static void a_sum_has_the_longest_wait_of_any(void **state)
{
	struct amounts sum = { 0 }, part = times_of(5, 0);

	(void)state;
	amounts_set(&part, AMOUNT_wait_count, 2);
	amounts_set(&part, AMOUNT_wait_max, 7);
	amounts_set_waited(&part, WAIT_PIPE, (struct waited){ .ns = 9, .count = 3, .max_ns = 4 });
	amounts_add(&sum, &part);
	amounts_set(&part, AMOUNT_wait_pipe_max_ns, 2);
	amounts_set(&part, AMOUNT_wait_max, 3);
	amounts_add(&sum, &part);
	assert_int_equal(NS(sum, wall_time_ns), 10);
	assert_int_equal(NS(sum, wait_count), 4);
	assert_int_equal(NS(sum, wait_max), 7);
	assert_int_equal(NS(sum, wait_pipe_ns), 18);
	assert_int_equal(NS(sum, wait_pipe_count), 6);
	assert_int_equal(NS(sum, wait_pipe_max_ns), 4);
	assert_true(sum.present == part.present);
}

static void a_sum_has_the_shortest_time_off_the_cpu_of_any(void **state)
{
	struct amounts sum = { 0 }, part = { 0 };

	(void)state;
	set_offcpu(&part, 3, 90, 20);
	amounts_add(&sum, &part);
	set_offcpu(&part, 1, 100, 0); /* goes on */
	amounts_add(&sum, &part);
	set_offcpu(&part, 2, 50, 30);
	amounts_add(&sum, &part);
	assert_int_equal(NS(sum, offcpu_count), 6);
	assert_int_equal(NS(sum, offcpu_max_ns), 100);
	assert_int_equal(NS(sum, offcpu_min_ns), 20);
}

static void times_off_the_cpu_get_more_and_their_shortest_only_shorter(void **state)
{
	struct amounts amounts = { 0 }, later = { 0 }, grown;

	(void)state;
	set_offcpu(&later, 1, 40, 0);
	amounts_raise(&amounts, &later, &grown);
	assert_int_equal(NS(amounts, offcpu_min_ns), 0);
	set_offcpu(&later, 4, 60, 7);
	amounts_raise(&amounts, &later, &grown);
	assert_int_equal(NS(grown, offcpu_count), 3);
	assert_int_equal(NS(grown, offcpu_max_ns), 60);
	assert_int_equal(NS(grown, offcpu_min_ns), 7);
	set_offcpu(&later, 3, 50, 9);
	amounts_raise(&amounts, &later, &grown);
	assert_int_equal(NS(grown, offcpu_count), 0);
	assert_int_equal(NS(amounts, offcpu_count), 4);
	assert_int_equal(NS(amounts, offcpu_max_ns), 60);
	assert_int_equal(NS(amounts, offcpu_min_ns), 7);
}

static void a_look_that_says_less_lowers_no_part(void **state)
{
	struct amounts amounts = times_of(100, 60), later = times_of(120, 50), grown;

	(void)state;
	amounts_set(&amounts, AMOUNT_wait_lock_ns, 40);
	amounts_set(&later, AMOUNT_wait_lock_ns, 30);
	amounts_set_waited(&later, WAIT_TIMER, (struct waited){ .ns = 8, .count = 1, .max_ns = 8 });
	amounts_raise(&amounts, &later, &grown);
	assert_int_equal(NS(amounts, wall_time_ns), 120);
	assert_int_equal(NS(amounts, run_time_ns), 60);
	assert_int_equal(NS(amounts, wait_lock_ns), 40);
	assert_int_equal(NS(amounts, wait_timer_ns), 8);
	assert_int_equal(NS(grown, wall_time_ns), 20);
	assert_int_equal(NS(grown, run_time_ns), 0);
	assert_int_equal(NS(grown, wait_lock_ns), 0);
	assert_int_equal(NS(grown, wait_timer_max_ns), 8);
}

static void a_wait_that_is_booked_anew_leaves_parts_that_add_up(void **state)
{
	struct amounts amounts = times_of(100, 60), later = times_of(110, 70), grown;

	(void)state;
	amounts_set(&amounts, AMOUNT_wait_lock_ns, 40);
	amounts_set(&later, AMOUNT_wait_lock_ns, 25);
	amounts_set(&later, AMOUNT_wait_time_ns, 15);
	amounts_raise(&amounts, &later, &grown);
	assert_int_equal(NS(amounts, wall_time_ns), 125);
	assert_int_equal(amounts_gap_ns(&amounts), 0);
	assert_int_equal(NS(grown, wall_time_ns), 25);
}

static void what_is_not_told_stays_absent(void **state)
{
	struct amounts amounts = { 0 }, later = { 0 }, grown;

	(void)state;
	amounts_set(&later, AMOUNT_wall_time_ns, 3);
	later.values[AMOUNT_run_time_ns] = 9; /* these without their bits */
	later.values[AMOUNT_wait_disk_ns] = 7;
	later.values[AMOUNT_offcpu_count] = 1;
	amounts_raise(&amounts, &later, &grown);
	assert_true(amounts.present == later.present);
	assert_int_equal(NS(amounts, wall_time_ns), 3);
	assert_int_equal(NS(amounts, run_time_ns), 0);
	assert_int_equal(NS(amounts, wait_disk_ns), 0);
	assert_int_equal(NS(amounts, offcpu_count), 0);
	assert_int_equal(NS(grown, run_time_ns), 0);
	amounts_add(&grown, &later);
	assert_int_equal(NS(grown, offcpu_count), 0);
}

static void a_sum_that_is_too_large_stays_at_the_largest_number(void **state)
{
	struct amounts sum = times_of(UINT64_MAX - 1, 0), part = times_of(5, 0);

	(void)state;
	amounts_add(&sum, &part);
	assert_true(NS(sum, wall_time_ns) == UINT64_MAX);
	amounts_set(&sum, AMOUNT_utime_ns, UINT64_MAX - 1);
	amounts_set(&sum, AMOUNT_stime_ns, 5);
	assert_true(amounts_cpu_ns(&sum) == UINT64_MAX);
}

static void an_amount_is_absent_until_someone_measures_it(void **state)
{
	struct amounts sum = { 0 }, part = { 0 }, grown;

	(void)state;
	part.values[AMOUNT_stime_ns] = 99; /* without its bit */
	amounts_set(&part, AMOUNT_utime_ns, 0);
	amounts_add(&sum, &part);
	assert_true(amounts_has(&sum, AMOUNT_utime_ns));
	assert_false(amounts_has(&sum, AMOUNT_stime_ns));
	assert_false(amounts_has_cpu(&sum));
	amounts_raise(&sum, &part, &grown);
	assert_int_equal(NS(sum, stime_ns), 0);
	amounts_set(&part, AMOUNT_stime_ns, 1);
	amounts_add(&sum, &part);
	assert_true(amounts_has_cpu(&sum));
	assert_int_equal(amounts_cpu_ns(&sum), 1);
}

static void counters_rise_and_never_fall(void **state)
{
	struct amounts amounts = { 0 }, later = { 0 }, grown;

	(void)state;
	amounts_set(&amounts, AMOUNT_rchar, 10);
	amounts_set(&amounts, AMOUNT_read_bytes, 10);
	amounts_set(&later, AMOUNT_rchar, 9);
	amounts_set(&later, AMOUNT_read_bytes, 11);
	amounts_set(&later, AMOUNT_utime_ns, 4);
	amounts_raise(&amounts, &later, &grown);
	assert_int_equal(NS(amounts, rchar), 10);
	assert_int_equal(NS(amounts, read_bytes), 11);
	assert_int_equal(NS(grown, rchar), 0);
	assert_int_equal(NS(grown, read_bytes), 1);
	assert_int_equal(NS(grown, utime_ns), 4);
	assert_true(amounts_has(&grown, AMOUNT_utime_ns));
	assert_false(amounts_has(&grown, AMOUNT_stime_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wait_has_a_name_of_its_own),
		cmocka_unit_test(the_three_amounts_of_a_reason_are_those_of_its_metrics),
		cmocka_unit_test(costly_waits_and_waits_for_work_are_summed_apart),
		cmocka_unit_test(a_sum_has_the_longest_wait_of_any),
		cmocka_unit_test(a_sum_has_the_shortest_time_off_the_cpu_of_any),
		cmocka_unit_test(times_off_the_cpu_get_more_and_their_shortest_only_shorter),
		cmocka_unit_test(a_look_that_says_less_lowers_no_part),
		cmocka_unit_test(a_wait_that_is_booked_anew_leaves_parts_that_add_up),
		cmocka_unit_test(what_is_not_told_stays_absent),
		cmocka_unit_test(a_sum_that_is_too_large_stays_at_the_largest_number),
		cmocka_unit_test(an_amount_is_absent_until_someone_measures_it),
		cmocka_unit_test(counters_rise_and_never_fall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
