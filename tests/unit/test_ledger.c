/* SPDX-License-Identifier: MIT */
/* Ledgers and usage: sums, kinds of waits, and that nothing falls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "model/ledger.h"
#include "model/usage.h"

#define ALL (LEDGER_WALL | LEDGER_ON_CPU | LEDGER_RUN_QUEUE | LEDGER_BLOCKED | LEDGER_OFF_CPU)

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

static void costly_waits_and_waits_for_work_are_summed_apart(void **state)
{
	struct ledger ledger = { .present = ALL, .wall_ns = 1000, .on_cpu_ns = 100 };

	(void)state;
	ledger.run_queue_ns = 10;
	ledger.blocked[WAIT_LOCK].ns = 20;
	ledger.blocked[WAIT_DISK].ns = 30;
	ledger.blocked[WAIT_POLL].ns = 400;
	ledger.blocked[WAIT_OTHER].ns = 440;
	assert_int_equal(ledger_costly_ns(&ledger), 60);
	assert_int_equal(ledger_waiting_for_work_ns(&ledger), 400);
	assert_int_equal(ledger_blocked_ns(&ledger), 890);
	assert_int_equal(ledger_gap_ns(&ledger), 0);
	ledger.on_cpu_ns = 105;
	assert_int_equal(ledger_gap_ns(&ledger), -5);
	ledger.wall_ns = 1007;
	assert_int_equal(ledger_gap_ns(&ledger), 2);
}

static void a_sum_of_ledgers_has_the_longest_wait_of_any(void **state)
{
	struct ledger sum = { 0 }, part = { .present = ALL, .wall_ns = 5, .run_queue_longest = 7 };

	(void)state;
	part.run_queue_count = 2;
	part.blocked[WAIT_PIPE] = (struct ledger_wait){ .ns = 9, .count = 3, .longest_ns = 4 };
	ledger_add(&sum, &part);
	part.blocked[WAIT_PIPE].longest_ns = 2;
	part.run_queue_longest = 3;
	ledger_add(&sum, &part);
	assert_int_equal(sum.wall_ns, 10);
	assert_int_equal(sum.run_queue_count, 4);
	assert_int_equal(sum.run_queue_longest, 7);
	assert_int_equal(sum.blocked[WAIT_PIPE].ns, 18);
	assert_int_equal(sum.blocked[WAIT_PIPE].count, 6);
	assert_int_equal(sum.blocked[WAIT_PIPE].longest_ns, 4);
	assert_int_equal(sum.present, ALL);
}

static void a_sum_of_ledgers_has_the_shortest_time_off_the_cpu_of_any(void **state)
{
	struct ledger sum = { 0 }, part = { .present = LEDGER_OFF_CPU, .off_cpu = { 3, 90, 20 } };

	(void)state;
	ledger_add(&sum, &part);
	part.off_cpu = (struct ledger_off){ .count = 1, .longest_ns = 100 }; /* goes on */
	ledger_add(&sum, &part);
	part.off_cpu = (struct ledger_off){ 2, 50, 30 };
	ledger_add(&sum, &part);
	assert_int_equal(sum.off_cpu.count, 6);
	assert_int_equal(sum.off_cpu.longest_ns, 100);
	assert_int_equal(sum.off_cpu.shortest_ns, 20);
}

static void times_off_the_cpu_get_more_and_their_shortest_only_shorter(void **state)
{
	struct ledger ledger = { 0 }, grown;
	struct ledger later = { .present = LEDGER_OFF_CPU, .off_cpu = { 1, 40, 0 } };

	(void)state;
	ledger_raise(&ledger, &later, &grown);
	assert_int_equal(ledger.off_cpu.shortest_ns, 0);
	later.off_cpu = (struct ledger_off){ 4, 60, 7 };
	ledger_raise(&ledger, &later, &grown);
	assert_int_equal(grown.off_cpu.count, 3);
	assert_int_equal(grown.off_cpu.longest_ns, 60);
	assert_int_equal(grown.off_cpu.shortest_ns, 7);
	later.off_cpu = (struct ledger_off){ 3, 50, 9 };
	ledger_raise(&ledger, &later, &grown);
	assert_int_equal(grown.off_cpu.count, 0);
	assert_int_equal(ledger.off_cpu.count, 4);
	assert_int_equal(ledger.off_cpu.longest_ns, 60);
	assert_int_equal(ledger.off_cpu.shortest_ns, 7);
}

static void a_look_that_says_less_lowers_no_part(void **state)
{
	struct ledger ledger = { .present = ALL, .wall_ns = 100, .on_cpu_ns = 60 }, grown;
	struct ledger later = { .present = ALL, .wall_ns = 120, .on_cpu_ns = 50 };

	(void)state;
	ledger.blocked[WAIT_LOCK].ns = 40;
	later.blocked[WAIT_LOCK].ns = 30;
	later.blocked[WAIT_TIMER] = (struct ledger_wait){ .ns = 8, .count = 1, .longest_ns = 8 };
	ledger_raise(&ledger, &later, &grown);
	assert_int_equal(ledger.wall_ns, 120);
	assert_int_equal(ledger.on_cpu_ns, 60);
	assert_int_equal(ledger.blocked[WAIT_LOCK].ns, 40);
	assert_int_equal(ledger.blocked[WAIT_TIMER].ns, 8);
	assert_int_equal(grown.wall_ns, 20);
	assert_int_equal(grown.on_cpu_ns, 0);
	assert_int_equal(grown.blocked[WAIT_LOCK].ns, 0);
	assert_int_equal(grown.blocked[WAIT_TIMER].longest_ns, 8);
}

static void a_wait_that_is_booked_anew_leaves_a_ledger_that_closes(void **state)
{
	const unsigned all = LEDGER_WALL | LEDGER_ON_CPU | LEDGER_RUN_QUEUE | LEDGER_BLOCKED;
	struct ledger ledger = { .present = all, .wall_ns = 100, .on_cpu_ns = 60 };
	struct ledger later = { .present = all, .wall_ns = 110, .on_cpu_ns = 70 };
	struct ledger grown;

	(void)state;
	ledger.blocked[WAIT_LOCK].ns = 40;
	later.blocked[WAIT_LOCK].ns = 25;
	later.run_queue_ns = 15;
	ledger_raise(&ledger, &later, &grown);
	assert_int_equal(ledger.wall_ns, 125);
	assert_int_equal(ledger_gap_ns(&ledger), 0);
	assert_int_equal(grown.wall_ns, 25);
}

static void a_part_that_is_not_told_stays_absent(void **state)
{
	struct ledger ledger = { 0 }, grown;
	struct ledger later = { .present = LEDGER_WALL, .wall_ns = 3, .on_cpu_ns = 9 };

	(void)state;
	later.blocked[WAIT_DISK].ns = 7;
	later.off_cpu = (struct ledger_off){ 1, 7, 7 };
	ledger_raise(&ledger, &later, &grown);
	assert_int_equal(ledger.present, LEDGER_WALL);
	assert_int_equal(ledger.wall_ns, 3);
	assert_int_equal(ledger.on_cpu_ns, 0);
	assert_int_equal(ledger.blocked[WAIT_DISK].ns, 0);
	assert_int_equal(ledger.off_cpu.count, 0);
	assert_int_equal(grown.on_cpu_ns, 0);
	ledger_add(&grown, &later);
	assert_int_equal(grown.off_cpu.count, 0);
}

static void a_sum_that_is_too_large_stays_at_the_largest_number(void **state)
{
	struct ledger sum = { .present = ALL, .wall_ns = UINT64_MAX - 1 };
	struct ledger part = { .present = ALL, .wall_ns = 5 };
	struct usage used = { 0 }, more = { 0 };

	(void)state;
	ledger_add(&sum, &part);
	assert_true(sum.wall_ns == UINT64_MAX);
	usage_set(&used, USAGE_CPU, UINT64_MAX);
	usage_set(&more, USAGE_CPU, 1);
	usage_add(&used, &more);
	assert_true(used.values[USAGE_CPU] == UINT64_MAX);
}

static void usage_is_absent_until_someone_measures_it(void **state)
{
	struct usage sum = { 0 }, part = { 0 };

	(void)state;
	part.values[USAGE_SYSTEM] = 99; /* without its bit */
	usage_set(&part, USAGE_CPU, 0);
	usage_add(&sum, &part);
	assert_true(usage_has(&sum, USAGE_CPU));
	assert_false(usage_has(&sum, USAGE_SYSTEM));
	assert_int_equal(sum.values[USAGE_SYSTEM], 0);
	usage_raise(&sum, &part);
	assert_int_equal(sum.values[USAGE_SYSTEM], 0);
}

static void usage_rises_and_never_falls(void **state)
{
	struct usage usage = { 0 }, later = { 0 }, before, grown;

	(void)state;
	usage_set(&usage, USAGE_CPU, 10);
	usage_set(&usage, USAGE_READ_BYTES, 10);
	usage_set(&later, USAGE_CPU, 9);
	usage_set(&later, USAGE_READ_BYTES, 11);
	usage_set(&later, USAGE_USER, 4);
	before = usage;
	usage_raise(&usage, &later);
	assert_int_equal(usage.values[USAGE_CPU], 10);
	assert_int_equal(usage.values[USAGE_READ_BYTES], 11);
	usage_grown(&before, &usage, &grown);
	assert_int_equal(grown.values[USAGE_CPU], 0);
	assert_int_equal(grown.values[USAGE_READ_BYTES], 1);
	assert_int_equal(grown.values[USAGE_USER], 4);
	assert_true(usage_has(&grown, USAGE_USER));
	assert_false(usage_has(&grown, USAGE_SYSTEM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wait_has_a_name_of_its_own),
		cmocka_unit_test(costly_waits_and_waits_for_work_are_summed_apart),
		cmocka_unit_test(a_sum_of_ledgers_has_the_longest_wait_of_any),
		cmocka_unit_test(a_sum_of_ledgers_has_the_shortest_time_off_the_cpu_of_any),
		cmocka_unit_test(times_off_the_cpu_get_more_and_their_shortest_only_shorter),
		cmocka_unit_test(a_look_that_says_less_lowers_no_part),
		cmocka_unit_test(a_wait_that_is_booked_anew_leaves_a_ledger_that_closes),
		cmocka_unit_test(a_part_that_is_not_told_stays_absent),
		cmocka_unit_test(a_sum_that_is_too_large_stays_at_the_largest_number),
		cmocka_unit_test(usage_is_absent_until_someone_measures_it),
		cmocka_unit_test(usage_rises_and_never_falls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
