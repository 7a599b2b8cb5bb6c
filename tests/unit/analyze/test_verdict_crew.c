/* SPDX-License-Identifier: MIT */
/* Verdicts along the critical path: how threads share the computing, and whether some collect garbage. */
#include <stdio.h>

#include "verdict_scene.h"

#include "hand_profile.h"

static void contend(struct run *run, double via, double held)
{
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 250,
		       .waits = { { WAIT_CONDITION, held, 90, 0 } });
	PART(via, .kind = PATH_CPU, .via = WAIT_CONDITION);
	PART(1000 - via, .kind = PATH_CPU, .via = WAIT_CHILD);
	PART(0, .kind = PATH_CPU);
}

static void one_at_a_time_is_serialised(void **state)
{
	static const struct {
		double via, held;
		enum run_cause cause;
	} scenes[] = {
		{ 400, 750, CAUSE_SERIALISED },
		{ 399, 750, CAUSE_CPU },
		{ 400, 135, CAUSE_SERIALISED }, /* 135 of 385 is more than 0.35 */
		{ 400, 134, CAUSE_CPU },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		contend(run, scenes[i].via, scenes[i].held);
		assert_cause(run, scenes[i].cause);
	}
}

static void the_off_cpu_analysis_of_one_at_a_time_is_of_locks(void **state)
{
	struct diagnosis diagnosis;
	RUN(1000);

	(void)state;
	contend(run, 700, 750);
	hand_sum_up(run);
	diagnose(run, &diagnosis);
	assert_int_equal(diagnosis.verdict.class, CLASS_LOCK_BOUND);
	assert_int_equal(diagnosis.offcpu.bottleneck, OFFCPU_LOCK_CONTENTION);
	assert_int_equal(diagnosis.syscalls.behavior, CLASS_UNKNOWN); /* no calls were seen */
}

/* A thread that is woken for the lock waits for the CPU of the one that takes it again. */
static void queue_behind_the_holder_is_part_of_being_serialised(void **state)
{
	RUN(2000);

	(void)state;
	contend(run, 500, 750);
	PART(1000, .kind = PATH_RUN_QUEUE, .by_tree_ns = hand_ns(1000));
	assert_cause(run, CAUSE_SERIALISED);
}

/* A thread that has the lock but no CPU holds the others up: they are too many for the CPUs. */
static void a_crowd_for_a_cpu_is_not_serialised_by_the_lock_that_it_takes(void **state)
{
	static const struct {
		double queue;
		bool is_kept_out;
		enum run_cause cause;
	} scenes[] = {
		{ 2000, false, CAUSE_SERIALISED },
		{ 2001, false, CAUSE_OVERSUBSCRIBED },
		{ 2000, true, CAUSE_SERIALISED },
		{ 2001, true, CAUSE_OVERSUBSCRIBED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		double via = scenes[i].is_kept_out ? 0 : 1000;
		enum wait_reason reason = scenes[i].is_kept_out ? WAIT_LOCK : WAIT_CONDITION;
		RUN(3000);

		for (int k = 1; k <= 4; k++)
			THREAD(.pid = 10, .tid = 10 + k, .on_cpu = 250, .run_queue = 2000,
			       .waits = { { reason, 750, 90, 0 } });
		PART(via, .kind = PATH_CPU, .via = WAIT_LOCK, .thread = "worker");
		PART(1000 - via, .kind = PATH_CPU, .via = WAIT_CHILD, .thread = "worker");
		PART(scenes[i].queue, .kind = PATH_RUN_QUEUE, .via = WAIT_LOCK,
		     .by_tree_ns = hand_ns(scenes[i].queue));
		assert_cause(run, scenes[i].cause);
	}
}

static void uneven_named(struct run *run, const char *heavy, const char *light)
{
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1000, 2, 0 } });
	THREAD(.pid = 10, .tid = 11, .comm = heavy, .on_cpu = 900);
	THREAD(.pid = 10, .tid = 12, .comm = light, .on_cpu = 50);
	hand_part(run, 900, &(struct path_part){ .kind = PATH_CPU, .via = WAIT_CHILD });
	PART(100, .kind = PATH_CPU);
	snprintf(run->path.parts.data[0].thread, TREE_COMM_SIZE, "%s", heavy);
}

static void threads_whose_names_differ_by_a_number_do_the_same(void **state)
{
	static const struct {
		const char *heavy, *light;
		enum run_cause cause;
	} scenes[] = {
		{ "Thread-0", "Thread-11", CAUSE_IMBALANCE },
		{ "worker", "worker2", CAUSE_IMBALANCE },
		{ "7", "7", CAUSE_IMBALANCE },
		{ "7", "8", CAUSE_CPU }, /* nothing but a number is no kind */
		{ "Thread-0", "Thread-x", CAUSE_CPU },
		{ "reader-1", "writer-1", CAUSE_CPU },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		uneven_named(run, scenes[i].heavy, scenes[i].light);
		assert_cause(run, scenes[i].cause);
	}
}

static void uneven(struct run *run, double heavy, double light)
{
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1000, 2, 0 } });
	THREAD(.pid = 10, .tid = 11, .comm = "work", .on_cpu = heavy);
	THREAD(.pid = 10, .tid = 12, .comm = "work", .on_cpu = light);
	PART(900, .kind = PATH_CPU, .via = WAIT_CHILD, .thread = "work");
	PART(100, .kind = PATH_CPU);
}

/* Who has no CPU is not done: 100 ms in the queue count as work that is left. */
static void who_waits_for_a_cpu_is_not_done_early(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		RUN(1000);

		uneven(run, 800, 300);
		THREAD(.pid = 10, .tid = 13, .comm = "work", .on_cpu = 10, .run_queue = 90 + more);
		assert_cause(run, more ? CAUSE_CPU : CAUSE_IMBALANCE);
	}
}

static void one_worker_with_twice_the_work_of_the_others_is_an_imbalance(void **state)
{
	static const struct {
		double heavy, light;
		enum run_cause cause;
	} scenes[] = {
		{ 800, 400, CAUSE_IMBALANCE },
		{ 800, 401, CAUSE_CPU },
		{ 800, 10, CAUSE_IMBALANCE },
		{ 800, 9.9, CAUSE_CPU }, /* less than a hundredth: it has no part in the work */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		uneven(run, scenes[i].heavy, scenes[i].light);
		assert_cause(run, scenes[i].cause);
	}
}

static void keep_out(struct run *run, double heavy, double light, double locked)
{
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1000, 2, 0 } });
	THREAD(.pid = 10, .tid = 11, .comm = "work", .on_cpu = heavy);
	THREAD(.pid = 10, .tid = 12, .comm = "work", .on_cpu = light, .run_queue = 200,
	       .waits = { { WAIT_LOCK, locked, 90, 0 } });
	PART(900, .kind = PATH_CPU, .via = WAIT_CHILD, .thread = "work");
	PART(100, .kind = PATH_CPU);
}

static void who_is_kept_out_by_a_lock_is_not_done_early(void **state)
{
	static const struct {
		double heavy, light, locked;
		enum run_cause cause;
	} scenes[] = {
		{ 900, 50, 400, CAUSE_SERIALISED }, /* half of 800 ms */
		{ 900, 50, 399, CAUSE_IMBALANCE },
		{ 700, 351, 400, CAUSE_SERIALISED }, /* also if the work is not that uneven */
		{ 950, 250, 400, CAUSE_SERIALISED },
		{ 950, 251, 400, CAUSE_IMBALANCE }, /* more than one computes at a time */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		keep_out(run, scenes[i].heavy, scenes[i].light, scenes[i].locked);
		assert_cause(run, scenes[i].cause);
	}
}

static void who_never_gets_a_lock_may_have_nothing_to_do(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		struct verdict verdict;
		RUN(1000);

		keep_out(run, 900, 5, 400 - less);
		verdict = judge(run);
		assert_int_equal(verdict.cause, CAUSE_CPU);
		assert_int_equal(verdict.score >= 0.7, less);
	}
}

static void a_collector_is_known_by_the_name_of_its_threads(void **state)
{
	static const struct {
		const char *thread;
		bool is_one;
	} names[] = {
		{ "GC Thread#0", true },     { "G1 Conc#0", true }, { "gc", true },
		{ "Shenandoah GC W", true }, { "gcc", false },	    { "worker", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct path_part part = { .kind = PATH_CPU, .via = WAIT_CONDITION, .processes = 1 };
		RUN(1000);

		snprintf(part.thread, sizeof(part.thread), "%s", names[i].thread);
		THREAD(.pid = 10, .on_cpu = 1000);
		hand_part(run, 500, &part);
		PART(500, .kind = PATH_CPU);
		assert_cause(run, names[i].is_one ? CAUSE_GC : CAUSE_CPU);
	}
}

static void virtual_machine(struct run *run, const char *other, double collecting)
{
	THREAD(.pid = 10, .comm = "java", .on_cpu = 1000 - collecting);
	THREAD(.pid = 10, .tid = 11, .comm = "VM Thread", .on_cpu = collecting);
	THREAD(.pid = 10, .tid = 12, .comm = other);
	PART(collecting, .kind = PATH_CPU, .via = WAIT_CONDITION, .thread = "VM Thread");
	PART(1000 - collecting, .kind = PATH_CPU, .thread = "java");
}

static void the_thread_of_a_virtual_machine_collects_if_no_other_can(void **state)
{
	static const struct {
		const char *other;
		double collecting;
		enum run_cause cause;
	} scenes[] = {
		{ "C2 CompilerThre", 500, CAUSE_GC },
		{ "C2 CompilerThre", 499, CAUSE_CPU },
		{ "GC Thread#0", 500, CAUSE_CPU }, /* what it did was something else */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		virtual_machine(run, scenes[i].other, scenes[i].collecting);
		assert_cause(run, scenes[i].cause);
		if (scenes[i].cause == CAUSE_GC)
			assert_true(judge_as_is(run).score < 0.7);
	}
}

/* The virtual machine waits for a CPU that its collectors have. */
static void the_queue_behind_a_collector_is_not_computing(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 800);
		PART(400 - less, .kind = PATH_CPU, .via = WAIT_CONDITION, .thread = "GC Thread#0");
		PART(400 + less, .kind = PATH_CPU);
		PART(200, .kind = PATH_RUN_QUEUE, .by_tree_ns = hand_ns(200));
		assert_cause(run, less ? CAUSE_CPU : CAUSE_GC);
	}
}

/* Less than half of the computing: the others wait for the collector, not for a lock. */
static void waits_for_a_collector_are_not_waits_for_a_lock(void **state)
{
	static const struct {
		double collecting, locked;
		enum run_cause cause;
		bool is_sure;
	} scenes[] = {
		{ 499, 0, CAUSE_CPU, false },  { 250, 0, CAUSE_CPU, false },
		{ 249, 0, CAUSE_CPU, true },   { 249, 400, CAUSE_SERIALISED, true },
		{ 249, 399, CAUSE_CPU, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		double own = 1000 - scenes[i].collecting - scenes[i].locked;
		RUN(1000);

		for (int k = 1; k <= 4; k++)
			THREAD(.pid = 10, .tid = 10 + k, .on_cpu = 250,
			       .waits = { { WAIT_CONDITION, 750, 90, 0 } });
		PART(scenes[i].collecting, .kind = PATH_CPU, .via = WAIT_CONDITION,
		     .thread = "GC Thread#0");
		if (scenes[i].locked > 0)
			PART(scenes[i].locked, .kind = PATH_CPU, .via = WAIT_CONDITION);
		PART(own, .kind = PATH_CPU);
		assert_cause(run, scenes[i].cause);
		assert_int_equal(judge_as_is(run).score >= 0.7, scenes[i].is_sure);
	}
}

/* Where threads have no names of their own, functions do: half of the time below a collector is enough. */
static void a_collector_is_known_by_the_functions_of_a_thread(void **state)
{
	static const struct {
		const char *stack;
		uint64_t ns;
		enum run_cause cause;
		bool is_sure;
	} scenes[] = {
		{ "main;gc_collect_main;visit", 500, CAUSE_GC, false },
		{ "main;gc_collect_main;visit", 499, CAUSE_CPU, false },
		{ "main;gc_collect_main;visit", 249, CAUSE_CPU, true },
		{ "main;visit;gc_collect_main", 500, CAUSE_GC, false },
		{ "main;my_gc_collect_main;visit", 500, CAUSE_CPU, true },
		{ "main;v8::internal::Sweeper::RawSweep", 500, CAUSE_GC, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		run->profile = hand_profile();
		hand_add(run->profile, PROFILE_ON_CPU, scenes[i].stack, scenes[i].ns);
		hand_add(run->profile, PROFILE_ON_CPU, "main;work", 1000 - scenes[i].ns);
		hand_add(run->profile, PROFILE_OFF_CPU, "main;work", 5000);
		THREAD(.pid = 10, .on_cpu = 990);
		PART(1000, .kind = PATH_CPU);
		assert_cause(run, scenes[i].cause);
		assert_int_equal(judge_as_is(run).score >= 0.7, scenes[i].is_sure);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_at_a_time_is_serialised),
		cmocka_unit_test(the_off_cpu_analysis_of_one_at_a_time_is_of_locks),
		cmocka_unit_test(queue_behind_the_holder_is_part_of_being_serialised),
		cmocka_unit_test(a_crowd_for_a_cpu_is_not_serialised_by_the_lock_that_it_takes),
		cmocka_unit_test(threads_whose_names_differ_by_a_number_do_the_same),
		cmocka_unit_test(one_worker_with_twice_the_work_of_the_others_is_an_imbalance),
		cmocka_unit_test(who_waits_for_a_cpu_is_not_done_early),
		cmocka_unit_test(who_is_kept_out_by_a_lock_is_not_done_early),
		cmocka_unit_test(who_never_gets_a_lock_may_have_nothing_to_do),
		cmocka_unit_test(a_collector_is_known_by_the_name_of_its_threads),
		cmocka_unit_test(a_collector_is_known_by_the_functions_of_a_thread),
		cmocka_unit_test(the_thread_of_a_virtual_machine_collects_if_no_other_can),
		cmocka_unit_test(the_queue_behind_a_collector_is_not_computing),
		cmocka_unit_test(waits_for_a_collector_are_not_waits_for_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
