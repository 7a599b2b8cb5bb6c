/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "record/pace/schedule.h"

static void the_first_tick_is_due_at_once(void **state)
{
	struct schedule schedule;

	(void)state;
	schedule_begin(&schedule, 10, 100);
	assert_int_equal(schedule.next_ns, 100);
}

static void deadlines_do_not_drift(void **state)
{
	struct schedule schedule;

	(void)state;
	schedule_begin(&schedule, 10, 100);
	assert_int_equal(schedule_taken(&schedule, 103), 0);
	assert_int_equal(schedule.next_ns, 110);
	assert_int_equal(schedule_taken(&schedule, 119), 0);
	assert_int_equal(schedule.next_ns, 120);
}

static void a_deadline_that_passed_is_missed(void **state)
{
	struct schedule schedule;

	(void)state;
	schedule_begin(&schedule, 10, 100);
	assert_int_equal(schedule_taken(&schedule, 110), 0);
	assert_int_equal(schedule.next_ns, 110);
	/* Those of 120, 130 and 140 passed. */
	assert_int_equal(schedule_taken(&schedule, 145), 3);
	assert_int_equal(schedule.next_ns, 150);
	assert_int_equal(schedule.missed, 3);
}

static void old_data_goes_hourly_but_not_by_a_clock_that_was_just_set(void **state)
{
	const uint64_t second = 1000000000, hour = 3600 * second, unix_ns = 1700000000 * second;
	struct expiry expiry = { 0 };

	(void)state;
	assert_int_equal(expiry_ask(&expiry, 5 * second, unix_ns), EXPIRY_NOW);
	assert_int_equal(expiry_ask(&expiry, hour, unix_ns + hour), EXPIRY_NOT_YET);
	/* Corrected by a second. */
	assert_int_equal(expiry_ask(&expiry, hour + 5 * second, unix_ns + hour - second),
			 EXPIRY_NOW);
	/* Ten years ahead, and back. */
	assert_int_equal(expiry_ask(&expiry, 2 * hour + 5 * second, unix_ns + 87600 * hour),
			 EXPIRY_CLOCK_WAS_SET);
	assert_int_equal(expiry_ask(&expiry, 3 * hour + 5 * second, unix_ns + 3 * hour),
			 EXPIRY_CLOCK_WAS_SET);
	assert_int_equal(expiry_ask(&expiry, 4 * hour + 5 * second, unix_ns + 4 * hour),
			 EXPIRY_NOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_data_goes_hourly_but_not_by_a_clock_that_was_just_set),
		cmocka_unit_test(the_first_tick_is_due_at_once),
		cmocka_unit_test(deadlines_do_not_drift),
		cmocka_unit_test(a_deadline_that_passed_is_missed),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
