/* SPDX-License-Identifier: MIT */
/* Programs that want nothing. */
#include "verdict_scene.h"

static void a_sleeper_is_idle(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 3, .waits = { { WAIT_TIMER, 1496, 15, 0 } });
	assert_cause(run, CAUSE_SLEEP);
}

static void a_shell_that_waits_for_a_sleeper_is_idle(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .comm = "sh", .on_cpu = 3, .waits = { { WAIT_CHILD, 1996, 1, 0 } });
	THREAD(.pid = 11, .comm = "sleep", .on_cpu = 1, .waits = { { WAIT_TIMER, 1990, 1, 0 } });
	assert_cause(run, CAUSE_SLEEP);
}

static void a_program_that_mostly_sleeps_is_idle_though_it_computes_at_times(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 450, .waits = { { WAIT_TIMER, 1050, 100, 0 } });
	assert_cause(run, CAUSE_SLEEP);
}

static void a_sleeper_is_idle_whatever_strangers_in_its_cgroup_suffer(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 3, .kernel = 1, .waits = { { WAIT_TIMER, 1496, 15, 0 } });
	throttle(run, 2500);
	run->limits.cgroup_memory_max_hits = KNOWN(600);
	run->limits.cgroup_memory_some_us = KNOWN(1200000);
	assert_cause(run, CAUSE_SLEEP);
}

static void a_poll_loop_is_idle(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 8, .waits = { { WAIT_POLL, 1490, 75, 0 } },
	       .calls = { { "poll", 75, 1495, 0, 0 } });
	assert_cause(run, CAUSE_POLL);
}

static void a_server_in_accept_waits_for_work(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1, .waits = { { WAIT_NETWORK, 1999, 1, 0 } }, .lives = true,
	       .now_in = "accept");
	assert_cause(run, CAUSE_POLL);
}

static void a_pool_that_mostly_waits_for_work_is_idle(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 2, .waits = { { WAIT_POLL, 1497, 9, 0 } });
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 1,
		       .waits = { { WAIT_CONDITION, 1498, 4, 0 } });
	assert_cause(run, CAUSE_POLL);
}

static void a_stopped_process_is_said_to_be_stopped(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_STOPPED, 1999, 1, 0 } });
	assert_cause(run, CAUSE_STOPPED);
}

static void a_parent_of_children_that_nobody_follows_waits_for_them(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1999, 1, 0 } });
	assert_cause(run, CAUSE_CHILD_WAIT);
}

static void a_client_that_polls_waits_for_its_server(void **state)
{
	static const struct {
		uint64_t connected, listening;
		enum run_cause cause;
	} rows[] = { { 0, 0, CAUSE_POLL },
		     { 1, 0, CAUSE_NETWORK },
		     { 8, 0, CAUSE_NETWORK },
		     { 9, 0, CAUSE_POLL },
		     { 1, 1, CAUSE_POLL } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		RUN(1500);

		THREAD(.pid = 10, .waits = { { WAIT_POLL, 1500, 1, 0 } }, .lives = true,
		       .now_in = "poll");
		PART(1500, .kind = WAIT_POLL);
		run->sockets.connected = KNOWN(rows[i].connected);
		run->sockets.listening = KNOWN(rows[i].listening);
		assert_cause(run, rows[i].cause);
	}
}

static void whom_a_thread_waits_for_to_wake_it_is_not_known(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CONDITION, 1500, 1, 0 } }, .lives = true,
	       .now_in = "futex");
	PART(1500, .kind = WAIT_CONDITION);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_POLL);
	assert_true(verdict.score <= 0.6);
	assert_non_null(strstr(verdict.evidence[0], "for work or for a lock"));
}

/* Sleeps of Java, beside threads that nobody wakes: only its own last wait may go on for ever. */
static void waits_with_a_time_limit_are_sleeps_whatever_others_wait_for(void **state)
{
	(void)state;
	for (int longer = 0; longer < 2; longer++) {
		RUN(1500);

		THREAD(.pid = 10, .waits = { { WAIT_CONDITION, 749 + longer, 1, 0 } },
		       .lives = true, .now_in = "futex");
		THREAD(.pid = 10, .tid = 11, .waits = { { WAIT_CONDITION, 1500, 1, 0 } },
		       .lives = true, .now_in = "futex");
		PART(1500, .kind = WAIT_CONDITION);
		assert_cause(run, longer ? CAUSE_POLL : CAUSE_SLEEP);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_polls_waits_for_its_server),
		cmocka_unit_test(whom_a_thread_waits_for_to_wake_it_is_not_known),
		cmocka_unit_test(waits_with_a_time_limit_are_sleeps_whatever_others_wait_for),
		cmocka_unit_test(a_sleeper_is_idle),
		cmocka_unit_test(a_shell_that_waits_for_a_sleeper_is_idle),
		cmocka_unit_test(a_program_that_mostly_sleeps_is_idle_though_it_computes_at_times),
		cmocka_unit_test(a_sleeper_is_idle_whatever_strangers_in_its_cgroup_suffer),
		cmocka_unit_test(a_poll_loop_is_idle),
		cmocka_unit_test(a_server_in_accept_waits_for_work),
		cmocka_unit_test(a_pool_that_mostly_waits_for_work_is_idle),
		cmocka_unit_test(a_stopped_process_is_said_to_be_stopped),
		cmocka_unit_test(a_parent_of_children_that_nobody_follows_waits_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
