/* SPDX-License-Identifier: MIT */
/* Programs that compute, or would if they were let. */
#include <errno.h>

#include "verdict_scene.h"

static void a_loop_is_cpu_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1480, .kernel = 5, .run_queue = 15, .faults = 90,
	       .calls = { { "mmap", 20, 0.1, 0, 0 }, { "read", 4, 0.1, 0, 0 } }, .moves = 4,
	       .bytes = 3000);
	assert_cause(run, CAUSE_CPU);
}

static void threads_that_crowd_on_every_cpu_are_oversubscribed(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1498, 2, 0 } }, .on_cpu = 2);
	for (int i = 1; i <= 8; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 370, .run_queue = 1130);
	assert_cause(run, CAUSE_OVERSUBSCRIBED);
}

static void one_busy_thread_among_idle_ones_is_cpu_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1450, .run_queue = 50);
	for (int i = 1; i < 8; i++)
		THREAD(.pid = 10, .tid = 10 + i, .waits = { { WAIT_CONDITION, 1499, 1, 0 } });
	assert_cause(run, CAUSE_CPU);
}

static void a_build_that_waits_for_its_children_is_not_idle(void **state)
{
	RUN(4000);

	(void)state;
	THREAD(.pid = 10, .comm = "make", .on_cpu = 100, .waits = { { WAIT_CHILD, 3900, 9, 0 } });
	for (int i = 1; i <= 8; i++)
		THREAD(.pid = 10 + i, .comm = "cc1", .on_cpu = 900, .run_queue = 300, .kernel = 90,
		       .faults = 20000, .waits = { { WAIT_DISK, 60, 20, 0 } });
	assert_cause(run, CAUSE_CPU);
}

static void cpu_time_of_children_that_nobody_saw_is_computing(void **state)
{
	struct verdict verdict;
	struct tree_event event;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .comm = "sh", .on_cpu = 60, .kernel = 30, .lives = true,
	       .no_times = true);
	amounts_set(&run->tree->amounts, AMOUNT_wall_time_ns, 0);
	amounts_set(&run->tree->amounts, AMOUNT_wait_time_ns, 0);
	amounts_set(&run->tree->amounts, AMOUNT_run_time_ns, 60 * MS);
	event = hand_event(run, TREE_PROCESS, 10, 10);
	event.process.present = TREE_PROCESS_UNSEEN;
	event.process.unseen_cpu_ns = 900 * MS;
	hand_apply(run, &event);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_CPU);
	assert_int_equal(verdict.evidence_count, 2);
	assert_non_null(strstr(verdict.evidence[1], "waits were not measured, which were 36.0 %"));
}

static void a_loop_is_starved_from_half_of_the_time_in_the_queue_on(void **state)
{
	for (int less = 0; less < 2; less++) {
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 750 + less, .kernel = 5, .run_queue = 750 - less);
		assert_cause(run, less ? CAUSE_CPU : CAUSE_RUN_QUEUE);
	}
	(void)state;
}

static void three_loops_on_one_of_two_cpus_are_starved(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 3; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 500, .run_queue = 1000);
	assert_cause(run, CAUSE_RUN_QUEUE);
}

static void six_loops_on_one_of_two_cpus_are_starved(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1499, 6, 0 } });
	for (int i = 1; i <= 6; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 250, .run_queue = 1250);
	assert_cause(run, CAUSE_RUN_QUEUE);
}

static void a_loop_that_gets_a_fifth_of_a_cpu_is_starved(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 300, .kernel = 5, .run_queue = 1200);
	assert_cause(run, CAUSE_RUN_QUEUE);
}

static void short_processes_one_at_a_time_on_a_full_machine_are_starved(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .kernel = 50, .run_queue = 300,
	       .waits = { { WAIT_CHILD, 1140, 100, 0 } });
	for (int i = 1; i <= 100; i++)
		THREAD(.pid = 10 + i, .on_cpu = 1.2, .kernel = 1, .run_queue = 9);
	assert_cause(run, CAUSE_RUN_QUEUE);
}

/* Without a path, 8 tenths of busy CPUs say that half of the queue is behind its own threads. */
static void the_fuller_it_keeps_the_cpus_the_more_it_waits_for_itself(void **state)
{
	(void)state;
	for (double each = 385; each <= 390; each += 5) {
		RUN(1000);

		for (int i = 0; i < 4; i++)
			THREAD(.pid = 10, .tid = 10 + i, .on_cpu = each, .run_queue = 4 * each);
		assert_cause(run, each < 390 ? CAUSE_RUN_QUEUE : CAUSE_OVERSUBSCRIBED);
	}
}

/* Without a path: in turn, a parent and its child at most wait for a CPU. */
static void more_than_two_in_the_queue_get_in_each_others_way(void **state)
{
	(void)state;
	for (double each = 195; each <= 205; each += 10) {
		RUN(1000);

		for (int i = 0; i < 20; i++)
			THREAD(.pid = 10 + i, .on_cpu = 1, .run_queue = each);
		assert_cause(run, each < 200 ? CAUSE_RUN_QUEUE : CAUSE_FORK_STORM);
	}
}

static void a_quota_starves(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1499, 2, 0 } });
	for (int i = 1; i <= 2; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 225, .run_queue = 1275);
	throttle(run, 2500);
	assert_cause(run, CAUSE_CPU_QUOTA);
}

static void a_quota_that_is_used_up_in_each_period_starves(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 2; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 232, .run_queue = 1260);
	throttle(run, 327);
	assert_cause(run, CAUSE_CPU_QUOTA);
}

static void a_storm_of_short_processes_is_a_fork_storm(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 500, .kernel = 450, .faults = 60000,
	       .waits = { { WAIT_CHILD, 900, 800, 0 } },
	       .calls = { { "clone", 800, 300, 0, 0 }, { "wait4", 800, 950, 0, 0 } });
	for (int i = 1; i <= 800; i++)
		THREAD(.pid = 10 + i, .on_cpu = 1.0, .kernel = 0.9, .faults = 80);
	assert_cause(run, CAUSE_FORK_STORM);
}

static void a_storm_whose_children_queue_behind_each_other_is_a_fork_storm(void **state)
{
	RUN(640);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 400, .kernel = 380, .run_queue = 230);
	for (int i = 1; i <= 3000; i++)
		THREAD(.pid = 10 + i, .on_cpu = 0.19, .kernel = 0.15, .run_queue = 150);
	assert_cause(run, CAUSE_FORK_STORM);
}

static void fail_calls(struct run *run, uint64_t count, uint32_t number)
{
	struct syscall_stats *stats = &run->tree->syscalls.rows[0].stats;

	stats->errors = count;
	stats->by_error[0].number = number;
	stats->by_error[0].count = count;
}

static void a_loop_of_calls_that_fail_spins(void **state)
{
	struct verdict verdict;

	(void)state;
	for (uint64_t more = 0; more < 2; more++) {
		RUN(1500);

		THREAD(.pid = 10, .comm = "bash", .on_cpu = 1480, .kernel = 700,
		       .calls = { { "newfstatat", 50000, 600, 0, 0 }, { "read", 90, 1, 0, 0 } });
		PART(1500, .kind = PATH_CPU);
		hand_sum_up(run);
		fail_calls(run, 48999 + more, ENOENT);
		verdict = judge_as_is(run);
		assert_string_equal(causes[verdict.cause].name, more ? "spinning" : "cpu");
		if (more)
			assert_non_null(strstr(verdict.evidence[0], "newfstatat"));
		assert_int_equal(verdict.score > 0.65, !more);
	}
}

static void who_looks_in_vain_beside_other_work_computes(void **state)
{
	(void)state;
	for (uint64_t reads = 5555; reads < 5557; reads++) {
		RUN(1500);

		THREAD(.pid = 10, .comm = "cc1", .on_cpu = 1480, .kernel = 300,
		       .calls = { { "newfstatat", 50000, 200, 0, 0 },
				  { "openat", reads, 1, 0, 0 } });
		hand_sum_up(run);
		fail_calls(run, 50000, ENOENT);
		assert_string_equal(causes[judge_as_is(run).cause].name,
				    reads == 5555 ? "spinning" : "cpu");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_of_calls_that_fail_spins),
		cmocka_unit_test(who_looks_in_vain_beside_other_work_computes),
		cmocka_unit_test(a_loop_is_cpu_bound),
		cmocka_unit_test(threads_that_crowd_on_every_cpu_are_oversubscribed),
		cmocka_unit_test(one_busy_thread_among_idle_ones_is_cpu_bound),
		cmocka_unit_test(a_build_that_waits_for_its_children_is_not_idle),
		cmocka_unit_test(cpu_time_of_children_that_nobody_saw_is_computing),
		cmocka_unit_test(a_loop_is_starved_from_half_of_the_time_in_the_queue_on),
		cmocka_unit_test(three_loops_on_one_of_two_cpus_are_starved),
		cmocka_unit_test(six_loops_on_one_of_two_cpus_are_starved),
		cmocka_unit_test(a_loop_that_gets_a_fifth_of_a_cpu_is_starved),
		cmocka_unit_test(short_processes_one_at_a_time_on_a_full_machine_are_starved),
		cmocka_unit_test(the_fuller_it_keeps_the_cpus_the_more_it_waits_for_itself),
		cmocka_unit_test(more_than_two_in_the_queue_get_in_each_others_way),
		cmocka_unit_test(a_quota_starves),
		cmocka_unit_test(a_quota_that_is_used_up_in_each_period_starves),
		cmocka_unit_test(a_storm_of_short_processes_is_a_fork_storm),
		cmocka_unit_test(a_storm_whose_children_queue_behind_each_other_is_a_fork_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
