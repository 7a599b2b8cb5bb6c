/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/watch/sampler.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
#define START (5 * SECOND)

/* Takes each sample at its deadline until the time is over; gives the last interval. */
static uint64_t sample_until(struct sampler *sampler, uint64_t end_ns, uint64_t cost_ns,
			     bool changed)
{
	while (sampler->next_ns <= end_ns)
		sampler_taken(sampler, sampler->next_ns, cost_ns, changed);
	return sampler->interval_ns;
}

static void the_first_second_is_sampled_at_the_shortest_interval(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	assert_int_equal(sampler.next_ns, START + 100 * MS);
	for (int i = 1; i <= 9; i++) {
		sampler_taken(&sampler, START + (uint64_t)i * 100 * MS, 0, false);
		assert_int_equal(sampler.next_ns, START + (uint64_t)(i + 1) * 100 * MS);
	}
}

static void intervals_grow_to_a_second_while_nothing_changes(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	assert_int_equal(sample_until(&sampler, START + 30 * SECOND, 0, false), SECOND);
}

static void after_a_minute_they_grow_to_five_seconds(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	assert_int_equal(sample_until(&sampler, START + 120 * SECOND, 0, false), 5 * SECOND);
}

static void a_change_makes_samples_frequent_again(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	sample_until(&sampler, START + 120 * SECOND, 0, false);
	sampler_taken(&sampler, sampler.next_ns, 0, true);
	assert_int_equal(sampler.interval_ns, 100 * MS);
}

static void costly_samples_stay_within_the_budget(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	/* 4 ms of CPU time: half a percent of a core is one sample in 800 ms. */
	assert_int_equal(sample_until(&sampler, START + 20 * SECOND, 4 * MS, true), 800 * MS);
}

static void a_single_costly_sample_is_forgotten_after_a_while(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	sampler_taken(&sampler, sampler.next_ns, 20 * MS, true);
	assert_int_equal(sampler.interval_ns, 4 * SECOND);
	assert_int_equal(sample_until(&sampler, START + 120 * SECOND, MS / 10, true), 100 * MS);
}

static void a_longer_interval_that_was_asked_for_is_kept(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 3 * SECOND, START);
	assert_int_equal(sample_until(&sampler, START + 30 * SECOND, 0, false), 3 * SECOND);
}

static void deadlines_that_passed_are_counted_and_left_out(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	/* Taken 450 ms late: those at 200, 300, 400 and 500 ms are gone. */
	sampler_taken(&sampler, START + 550 * MS, 0, false);
	assert_int_equal(sampler.missed, 4);
	assert_int_equal(sampler.next_ns, START + 600 * MS);
}

static void being_late_does_not_move_the_deadlines(void **state)
{
	struct sampler sampler;

	(void)state;
	sampler_begin(&sampler, 0, START);
	sampler_taken(&sampler, START + 130 * MS, 0, false);
	assert_int_equal(sampler.next_ns, START + 200 * MS);
	assert_int_equal(sampler.missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_second_is_sampled_at_the_shortest_interval),
		cmocka_unit_test(intervals_grow_to_a_second_while_nothing_changes),
		cmocka_unit_test(after_a_minute_they_grow_to_five_seconds),
		cmocka_unit_test(a_change_makes_samples_frequent_again),
		cmocka_unit_test(costly_samples_stay_within_the_budget),
		cmocka_unit_test(a_single_costly_sample_is_forgotten_after_a_while),
		cmocka_unit_test(a_longer_interval_that_was_asked_for_is_kept),
		cmocka_unit_test(deadlines_that_passed_are_counted_and_left_out),
		cmocka_unit_test(being_late_does_not_move_the_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
