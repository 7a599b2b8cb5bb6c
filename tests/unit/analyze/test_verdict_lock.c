/* SPDX-License-Identifier: MIT */
/* Threads that wait for each other, or only seem to. */
#include "verdict_scene.h"

static void a_deadlock_is_lock_bound(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 2; i++)
		THREAD(.pid = 10, .tid = 10 + i, .waits = { { WAIT_LOCK, 1500, 1, 0 } },
		       .lives = true, .now_in = "futex");
	assert_cause(run, CAUSE_LOCK);
}

static void a_convoy_on_one_mutex_is_lock_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1500, 4, 0 } });
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 380, .kernel = 10, .run_queue = 40,
		       .waits = { { WAIT_LOCK, 1080, 360, 0 } },
		       .calls = { { "futex", 720, 1090, 0, 0 } });
	assert_cause(run, CAUSE_LOCK);
}

static void a_convoy_whose_woken_threads_find_no_cpu_is_lock_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1500, 4, 0 } });
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 370, .kernel = 10, .run_queue = 550,
		       .queued = 330, .waits = { { WAIT_LOCK, 580, 217, 0 } });
	assert_cause(run, CAUSE_LOCK);
}

static void workers_parked_on_a_lock_do_not_make_it_lock_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1450, .run_queue = 50);
	for (int i = 1; i < 5; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 1,
		       .waits = { { WAIT_LOCK, 1495, 6, 900 } });
	assert_cause(run, CAUSE_CPU);
}

/* Who ended the condition waits of a thread, mostly. */
static void add_condition_wait(struct run *run, int32_t tid, double ms, uint64_t count,
			       int32_t waker)
{
	struct tree_wait *wait = &run->tree->top_waits[run->tree->top_wait_count++];

	*wait = (struct tree_wait){ .thread = { 10, tid, (uint64_t)tid * MS },
				    .comm = "worker",
				    .reason = WAIT_CONDITION,
				    .total_ns = hand_ns(ms),
				    .longest_ns = 9 * MS,
				    .count = count };
	wait->waker = (struct tree_waker){ .reason = WAIT_CONDITION,
					   .waker_pid = waker ? 10 : 0,
					   .waker_tid = waker,
					   .waker_comm = "worker",
					   .total_ns = hand_ns(ms * 0.4) };
}

static void contend(struct run *run, double on_cpu, double asleep, uint64_t count)
{
	double waited = 1490 - on_cpu - asleep;

	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1500, 1, 0 } });
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = on_cpu, .run_queue = 10,
		       .waits = { { WAIT_CONDITION, waited, count, 8 },
				  { WAIT_TIMER, asleep, count, 0 } });
	hand_sum_up(run);
	run->tree->top_wait_count = 0;
	for (int i = 1; i <= 4; i++)
		add_condition_wait(run, 10 + i, waited, count, 11 + i % 4);
}

static void threads_that_compute_under_one_read_write_lock_are_lock_bound(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	contend(run, 380, 0, 400);
	verdict = judge_as_is(run);
	assert_int_equal(verdict.cause, CAUSE_LOCK);
	assert_true(verdict.confidence >= 0.4 && verdict.confidence <= 0.6);
	assert_non_null(strstr(verdict.evidence[0], "condition variables"));
	assert_non_null(strstr(verdict.evidence[1], "ended by worker"));
}

static void contention_is_seen_by_who_runs_where_wakers_are_not_known(void **state)
{
	RUN(1500);

	(void)state;
	contend(run, 380, 0, 400);
	run->tree->top_wait_count = 0;
	assert_int_equal(judge_as_is(run).cause, CAUSE_LOCK);
}

static void threads_that_sleep_under_one_read_write_lock_are_not_surely_idle(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	contend(run, 20, 350, 330);
	verdict = judge_as_is(run);
	assert_int_equal(verdict.cause, CAUSE_POLL);
	assert_true(verdict.confidence <= 0.6);
	assert_non_null(strstr(verdict.evidence[0], "condition variables"));
	assert_null(strstr(verdict.evidence[0], "events"));
}

static void consumers_that_a_busy_producer_wakes_do_not_make_it_lock_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1450, .run_queue = 50);
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 60, .run_queue = 10,
		       .waits = { { WAIT_CONDITION, 1430, 500, 0 } });
	hand_sum_up(run);
	run->tree->top_wait_count = 0;
	for (int i = 1; i <= 4; i++)
		add_condition_wait(run, 10 + i, 1430, 500, 10);
	assert_int_equal(judge_as_is(run).cause, CAUSE_CPU);
}

static void a_pool_that_keeps_all_cpus_busy_is_cpu_bound_though_its_threads_meet(void **state)
{
	RUN(1500);

	(void)state;
	run->limits.online_cpus = 4;
	contend(run, 1150, 0, 300);
	assert_int_equal(judge_as_is(run).cause, CAUSE_CPU);
}

static void the_longest_wait_and_who_ended_it_are_evidence(void **state)
{
	struct verdict verdict;
	struct tree_wait wait = { .thread = { 10, 12, 0 },
				  .comm = "worker\n2",
				  .reason = WAIT_LOCK,
				  .total_ns = 1080 * MS,
				  .longest_ns = 5 * MS,
				  .count = 360 };
	RUN(1500);

	(void)state;
	for (int i = 0; i < 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 380,
		       .waits = { { WAIT_LOCK, 1080, 360, 0 } });
	hand_sum_up(run);
	wait.waker = (struct tree_waker){
		.waker_pid = 10, .waker_tid = 11, .waker_comm = "worker1", .total_ns = 540 * MS
	};
	run->tree->top_waits[0] = wait;
	run->tree->top_wait_count = 1;
	verdict = judge_as_is(run);
	assert_string_equal(
		verdict.evidence[1],
		"worker\\x0a2 (12) waited 1.08 s, longest 5.00 ms; ended by worker1 (11) in 50.0 %");
	run->tree->top_waits[0].waker.waker_tid = 0;
	verdict = judge_as_is(run);
	assert_string_equal(
		verdict.evidence[1],
		"worker\\x0a2 (12) waited 1.08 s, longest 5.00 ms; ended by the kernel in 50.0 %");
	run->tree->top_waits[0].waker.total_ns = MS;
	verdict = judge_as_is(run);
	assert_string_equal(verdict.evidence[1],
			    "worker\\x0a2 (12) waited 1.08 s, longest 5.00 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_deadlock_is_lock_bound),
		cmocka_unit_test(a_convoy_on_one_mutex_is_lock_bound),
		cmocka_unit_test(a_convoy_whose_woken_threads_find_no_cpu_is_lock_bound),
		cmocka_unit_test(workers_parked_on_a_lock_do_not_make_it_lock_bound),
		cmocka_unit_test(threads_that_compute_under_one_read_write_lock_are_lock_bound),
		cmocka_unit_test(contention_is_seen_by_who_runs_where_wakers_are_not_known),
		cmocka_unit_test(threads_that_sleep_under_one_read_write_lock_are_not_surely_idle),
		cmocka_unit_test(consumers_that_a_busy_producer_wakes_do_not_make_it_lock_bound),
		cmocka_unit_test(
			a_pool_that_keeps_all_cpus_busy_is_cpu_bound_though_its_threads_meet),
		cmocka_unit_test(the_longest_wait_and_who_ended_it_are_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
