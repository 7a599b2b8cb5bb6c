/* SPDX-License-Identifier: MIT */
/* Threads that wait for each other, where no path is known. */
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

/* Others wait for the lock, whatever its holder does meanwhile; who sleeps without one just sleeps. */
static void who_sleeps_with_a_lock_holds_the_others_up(void **state)
{
	(void)state;
	for (int via_lock = 0; via_lock < 2; via_lock++) {
		struct verdict verdict;
		RUN(1000);

		THREAD(.pid = 10, .comm = "job", .on_cpu = 10,
		       .waits = { { WAIT_TIMER, 250, 1, 0 }, { WAIT_LOCK, 740, 3, 0 } });
		PART(740, .kind = WAIT_TIMER, .via = via_lock ? WAIT_LOCK : WAIT_CHILD,
		     .program = "job");
		PART(250, .kind = WAIT_TIMER, .program = "job");
		PART(10, .kind = PATH_CPU, .program = "else");
		verdict = judge(run);
		assert_int_equal(verdict.cause, via_lock ? CAUSE_LOCK : CAUSE_SLEEP);
		assert_string_equal(verdict.who, "job");
		assert_int_equal(strstr(verdict.evidence[0], "asleep with a lock") != NULL,
				 via_lock);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_sleeps_with_a_lock_holds_the_others_up),
		cmocka_unit_test(a_deadlock_is_lock_bound),
		cmocka_unit_test(a_convoy_on_one_mutex_is_lock_bound),
		cmocka_unit_test(a_convoy_whose_woken_threads_find_no_cpu_is_lock_bound),
		cmocka_unit_test(the_longest_wait_and_who_ended_it_are_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
