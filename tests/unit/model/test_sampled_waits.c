/* SPDX-License-Identifier: MIT */
/* Waits from samples: the parts add up, none falls, and the error is that of the samples. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/wait/link_kind.h"
#include "model/wait/sampled_waits.h"

static void note(struct sampled_waits *sampled, enum wait_reason reason, int count)
{
	while (count-- > 0)
		sampled_waits_note(sampled, reason);
}

static uint64_t credited(const struct sampled_waits *sampled)
{
	uint64_t sum = 0;

	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		sum += sampled->ns[i];
	return sum;
}

static void blocked_time_is_divided_as_samples_were_found(void **state)
{
	struct sampled_waits sampled = { 0 };

	(void)state;
	note(&sampled, WAIT_PIPE, 1);
	note(&sampled, WAIT_TIMER, 2);
	sampled_waits_credit(&sampled, 1000, false);
	assert_int_equal(sampled.ns[WAIT_PIPE], 333);
	assert_int_equal(sampled.ns[WAIT_TIMER], 667);
	assert_int_equal(credited(&sampled), 1000);
}

static void what_was_credited_stays_and_growth_goes_by_the_new_samples(void **state)
{
	struct sampled_waits sampled = { 0 };

	(void)state;
	note(&sampled, WAIT_TIMER, 4);
	sampled_waits_credit(&sampled, 1000, false);
	note(&sampled, WAIT_LOCK, 1);
	sampled_waits_credit(&sampled, 1500, false);
	assert_int_equal(sampled.ns[WAIT_TIMER], 1000);
	assert_int_equal(sampled.ns[WAIT_LOCK], 500);
	/* A whole that falls, since clocks differ, takes nothing away. */
	sampled_waits_credit(&sampled, 1200, false);
	assert_int_equal(credited(&sampled), 1500);
	/* Without new samples all of them decide: 4 to 1. */
	sampled_waits_credit(&sampled, 2500, false);
	assert_int_equal(sampled.ns[WAIT_TIMER], 1800);
	assert_int_equal(sampled.ns[WAIT_LOCK], 700);
}

static void large_times_and_counts_do_not_overflow(void **state)
{
	const uint64_t year_ns = UINT64_C(31557600) * 1000000000;
	struct sampled_waits sampled = { 0 };

	(void)state;
	sampled.is_sampled = true;
	sampled.found[WAIT_DISK] = sampled.found[WAIT_POLL] = UINT32_MAX;
	sampled_waits_credit(&sampled, year_ns, false);
	assert_int_equal(credited(&sampled), year_ns);
	assert_true(sampled.ns[WAIT_DISK] - year_ns / 2 + 2 <= 4);
}

static void a_thread_that_was_never_found_blocked_waits_for_its_end(void **state)
{
	struct sampled_waits sampled = { 0 };

	(void)state;
	sampled_waits_note_running(&sampled);
	sampled_waits_credit(&sampled, 700, false);
	assert_int_equal(credited(&sampled), 0);
	sampled_waits_credit(&sampled, 800, true);
	assert_int_equal(sampled.ns[WAIT_OTHER], 800);
}

static void a_thread_that_ended_unseen_is_credited_what_samples_show(void **state)
{
	struct sampled_waits sampled = { 0 };

	(void)state;
	note(&sampled, WAIT_POLL, 1);
	sampled_waits_credit(&sampled, 100, false);
	sampled_waits_credit_unseen(&sampled, 1100);
	assert_int_equal(credited(&sampled), 100);
	note(&sampled, WAIT_POLL, 1);
	for (int i = 0; i < 3; i++)
		sampled_waits_note_running(&sampled);
	sampled_waits_credit_unseen(&sampled, 1100);
	assert_int_equal(sampled.ns[WAIT_POLL], 100 + 250);
}

static void without_a_sample_waits_are_absent_and_counts_always_are(void **state)
{
	struct sampled_waits sampled = { 0 };
	struct amounts amounts = { 0 };

	(void)state;
	sampled_waits_credit(&sampled, 500, true);
	sampled_waits_fill(&sampled, &amounts);
	assert_int_equal(amounts.present, 0);
	note(&sampled, WAIT_CHILD, 1);
	sampled_waits_fill(&sampled, &amounts);
	assert_true(amounts_has_waits(&amounts));
	assert_true(amounts_has(&amounts, AMOUNT_wait_child_ns));
	assert_false(amounts_has(&amounts, AMOUNT_wait_child_count));
	assert_false(amounts_has(&amounts, AMOUNT_wait_child_max_ns));
}

static void the_error_is_that_of_a_share_of_so_many_samples(void **state)
{
	struct amounts amounts = { 0 };

	(void)state;
	assert_true(sampled_waits_error(&amounts, 0) == 1);
	amounts_set_waited_ns(&amounts, WAIT_PIPE, 500);
	amounts_set_waited_ns(&amounts, WAIT_TIMER, 500);
	assert_true(fabs(sampled_waits_error(&amounts, 100) - 0.098) < 1e-9);
	/* Where all agree, others may still have been missed. */
	amounts_set_waited_ns(&amounts, WAIT_PIPE, 0);
	assert_true(fabs(sampled_waits_error(&amounts, 100) - 0.03) < 1e-9);
	assert_true(sampled_waits_error(&amounts, 1) == 1);
}

static void kernel_functions_show_what_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(channel_reason("io_schedule"), WAIT_DISK);
	assert_int_equal(channel_reason("anon_pipe_read"), WAIT_PIPE);
	assert_int_equal(channel_reason("unix_stream_read_generic"), WAIT_PIPE);
	assert_int_equal(channel_reason("inet_csk_accept"), WAIT_NETWORK);
	assert_int_equal(channel_reason("hrtimer_nanosleep"), WAIT_TIMER);
	assert_int_equal(channel_reason("do_wait"), WAIT_CHILD);
	assert_int_equal(channel_reason("0"), -1);
	assert_int_equal(channel_reason(""), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocked_time_is_divided_as_samples_were_found),
		cmocka_unit_test(what_was_credited_stays_and_growth_goes_by_the_new_samples),
		cmocka_unit_test(large_times_and_counts_do_not_overflow),
		cmocka_unit_test(a_thread_that_was_never_found_blocked_waits_for_its_end),
		cmocka_unit_test(a_thread_that_ended_unseen_is_credited_what_samples_show),
		cmocka_unit_test(without_a_sample_waits_are_absent_and_counts_always_are),
		cmocka_unit_test(the_error_is_that_of_a_share_of_so_many_samples),
		cmocka_unit_test(kernel_functions_show_what_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
