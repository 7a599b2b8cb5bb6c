/* SPDX-License-Identifier: MIT */
/* Verdicts along the critical path: who computes, and why that took so long. */
#include <errno.h>
#include <stdio.h>

#include "verdict_scene.h"

static struct tree_process *process_of(struct run *run, int32_t pid)
{
	for (size_t i = 0; i < run->tree->count; i++)
		if (run->tree->all[i]->key.pid == pid)
			return run->tree->all[i];
	return NULL;
}

static void end_early(struct run *run, int32_t pid, double ms)
{
	process_of(run, pid)->exited = true;
	process_of(run, pid)->end_ns = run->end_ns - hand_ns(ms);
}

/* A child beside which others computed, for so long in all that it outlasts them; and one alone. */
static void a_child_that_outlasts_others_is_named(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		struct verdict verdict;
		RUN(1000);

		THREAD(.pid = 10, .comm = "sh", .on_cpu = 5,
		       .waits = { { WAIT_CHILD, 990, 1, 0 } });
		THREAD(.pid = 11, .comm = "sha256sum", .on_cpu = 990);
		THREAD(.pid = 12, .comm = "cksum", .on_cpu = 195 - less);
		end_early(run, 12, 200);
		PART(990, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "sha256sum",
		     .command = "sha256sum big");
		PART(10, .kind = PATH_CPU, .program = "sh");
		verdict = judge(run);
		assert_int_equal(verdict.cause, less ? CAUSE_CPU : CAUSE_CHILD);
		assert_string_equal(verdict.who, "sha256sum");
		assert_non_null(strstr(verdict.evidence[1], "sha256sum big"));
	}
}

/* Jobs that go on beside it until nearly the end are many, rather than one to wait for. */
static void a_child_is_alone_at_the_end(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .comm = "sh", .waits = { { WAIT_CHILD, 990, 1, 0 } });
		THREAD(.pid = 11, .comm = "gzip", .on_cpu = 990);
		THREAD(.pid = 12, .comm = "gzip", .on_cpu = 600);
		THREAD(.pid = 13, .comm = "tee", .on_cpu = 9);
		end_early(run, 12, 200 - less);
		PART(990, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "gzip");
		PART(10, .kind = PATH_CPU, .program = "sh");
		assert_cause(run, less ? CAUSE_CPU : CAUSE_CHILD);
	}
}

/* Where it is several processes of one program, none of them is the one to wait for. */
static void no_child_outlasts_others_of_its_kind(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .comm = "make", .on_cpu = 1000);
		THREAD(.pid = 11, .comm = "cc1", .on_cpu = 1000);
		end_early(run, 11, 500);
		PART(1000, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "cc1", .processes = 20,
		     .command_ns = hand_ns(500 - less));
		assert_cause(run, less ? CAUSE_CPU : CAUSE_CHILD);
	}
}

/* The same program with another command line is another process; a thread has the same one. */
static void a_child_is_told_from_a_thread_by_its_command(void **state)
{
	(void)state;
	for (int thread = 0; thread < 2; thread++) {
		RUN(1000);

		THREAD(.pid = 10, .comm = "git", .on_cpu = 210);
		THREAD(.pid = 11, .comm = "git", .on_cpu = 990);
		process_of(run, 11)->parent_pid = 10; /* it waits, and ends last */
		PART(10, .kind = PATH_CPU, .program = "git", .command = "git repack");
		if (thread)
			PART(990, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "git",
			     .command = "git repack");
		else
			PART(990, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "git",
			     .command = "git pack-objects");
		assert_cause(run, thread ? CAUSE_CPU : CAUSE_CHILD);
	}
}

/* No child is named if none has at least half of the computing. */
static void of_many_children_none_is_named(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .comm = "sh", .on_cpu = 200);
		THREAD(.pid = 11, .comm = "one", .on_cpu = 1000);
		end_early(run, 10, 500);
		PART(500 - less, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "one");
		PART(300 + less, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "two");
		PART(200, .kind = PATH_CPU, .program = "sh");
		assert_cause(run, less ? CAUSE_CPU : CAUSE_CHILD);
	}
}

/* The compilers of a virtual machine are no children that are done before it. */
static void threads_of_a_child_are_not_outlasted_by_it(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .comm = "sh", .on_cpu = 5, .waits = { { WAIT_CHILD, 990, 1, 0 } });
	THREAD(.pid = 11, .comm = "java", .on_cpu = 990);
	THREAD(.pid = 11, .tid = 12, .comm = "C2 CompilerThre", .on_cpu = 400);
	PART(990, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "java", .command = "java Main");
	PART(10, .kind = PATH_CPU, .program = "sh");
	assert_cause(run, CAUSE_CPU);
}

/*
 * Jobs of which each computes behind a lock: the path comes to so many of them by it, and they waited for it
 * for so long.
 */
static void jobs_take_turns_if_a_lock_leads_from_one_to_the_next(void **state)
{
	static const struct {
		uint64_t jobs, turns;
		double waited, beside;
		enum run_cause cause;
	} scenes[] = {
		{ 4, 2, 500, 200, CAUSE_SERIALISED },
		{ 2, 1, 500, 200, CAUSE_SERIALISED },
		{ 4, 1, 500, 200, CAUSE_CPU },
		{ 5, 2, 500, 200, CAUSE_CPU },
		{ 4, 2, 499, 200, CAUSE_CPU },
		{ 4, 2, 500, 201, CAUSE_CPU }, /* another computed beside them */
		{ 1, 2, 500, 200, CAUSE_CPU }, /* it is one that computes */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1010);

		THREAD(.pid = 10, .comm = "xargs", .waits = { { WAIT_CHILD, 1000, 4, 0 } });
		THREAD(.pid = 11, .comm = "flock",
		       .waits = { { WAIT_LOCK, scenes[i].waited, 3, 0 } });
		THREAD(.pid = 12, .comm = "lua", .on_cpu = 1000 + scenes[i].beside);
		PART(1000, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "lua",
		     .processes = scenes[i].jobs, .command = "lua job",
		     .command_ns = hand_ns(scenes[i].jobs > 1 ? 250 : 1000));
		PART(10, .kind = WAIT_DISK, .via = WAIT_LOCK, .program = "flock",
		     .processes = scenes[i].turns);
		assert_cause(run, scenes[i].cause);
	}
}

static void pipeline(struct run *run, double waited, uint64_t pieces)
{
	THREAD(.pid = 10, .comm = "sh", .waits = { { WAIT_CHILD, 1000, 1, 0 } });
	THREAD(.pid = 11, .comm = "tar", .on_cpu = 50,
	       .waits = { { WAIT_PIPE, waited, pieces, 0 } });
	THREAD(.pid = 12, .comm = "gzip", .on_cpu = 1000);
	PART(1000, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "gzip");
}

static void a_stage_holds_a_pipeline_up_if_others_wait_half_of_its_time(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		pipeline(run, 500 - less, 90);
		assert_cause(run, less ? CAUSE_CPU : CAUSE_PIPE_STAGE);
	}
}

/* The idle workers of a pool wait at a pipe as well, once each. */
static void a_stage_is_waited_for_piece_by_piece(void **state)
{
	(void)state;
	for (uint64_t pieces = 9; pieces <= 10; pieces++) {
		RUN(1000);

		pipeline(run, 900, pieces);
		assert_cause(run, pieces < 10 ? CAUSE_CPU : CAUSE_PIPE_STAGE);
	}
}

static void two_that_answer_each_other_are_held_up_by_their_pipe(void **state)
{
	static const struct {
		uint64_t edges;
		enum run_cause cause;
	} scenes[] = {
		/* 200 us each; then 271 us, of which more is put down to the pipe than not; 279 us */
		{ 4000, CAUSE_PIPE },
		{ 2950, CAUSE_PIPE },
		{ 2870, CAUSE_CPU },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 1000, .kernel = 300);
		PART(800, .kind = PATH_CPU, .via = WAIT_PIPE);
		PART(200, .kind = PATH_CPU);
		run->path.edges = scenes[i].edges;
		assert_cause(run, scenes[i].cause);
	}
}

/* sort computes for long before it writes; many small pieces follow. */
static void long_stretches_hand_nothing_over(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct path_segment segment = { .end_ns = hand_ns(199 + more),
						.kind = PATH_CPU,
						.via = WAIT_PIPE };
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 1000, .kernel = 300);
		PART(800, .kind = PATH_CPU, .via = WAIT_PIPE);
		PART(200, .kind = PATH_CPU);
		run->path.edges = 4000;
		assert_int_equal(critical_path_add_segment(&run->path, &segment), 0);
		segment.begin_ns = segment.end_ns;
		segment.end_ns += hand_ns(101);
		assert_int_equal(critical_path_add_segment(&run->path, &segment), 0);
		assert_cause(run, more ? CAUSE_CPU : CAUSE_PIPE);
	}
}

/* The share beside the name is what all threads of the program computed. */
static void a_thread_is_named_if_it_computed_nearly_all(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		struct verdict verdict;
		RUN(1000);

		THREAD(.pid = 10, .comm = "one", .on_cpu = 900 - less);
		THREAD(.pid = 10, .tid = 11, .comm = "two", .on_cpu = 100 + less);
		PART(900 - less, .kind = PATH_CPU, .program = "solver", .thread = "one");
		PART(100 + less, .kind = PATH_CPU, .program = "solver", .thread = "two");
		verdict = judge_as_is(run);
		assert_string_equal(verdict.who, less ? "solver" : "one of solver");
		assert_string_equal(verdict.evidence[1],
				    less ? "100 % in solver" : "100 % in one of solver");
	}
}

/* One that passes each small piece of its work on does not wait for answers. */
static void who_computes_nearly_all_hands_nothing_over(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		RUN(1000);

		THREAD(.pid = 10, .comm = "sh", .waits = { { WAIT_CHILD, 1000, 1, 0 } });
		THREAD(.pid = 11, .comm = "factor", .on_cpu = 900);
		THREAD(.pid = 12, .comm = "tail", .on_cpu = 100,
		       .waits = { { WAIT_PIPE, 900, 5000, 0 } });
		PART(900 + more, .kind = PATH_CPU, .via = WAIT_PIPE, .program = "factor");
		PART(100 - more, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "tail");
		run->path.edges = 5000;
		assert_cause(run, more ? CAUSE_PIPE_STAGE : CAUSE_PIPE);
	}
}

/* Waits that were too short to be followed, while another process computed. */
static void short_waits_are_put_down_to_who_computed_meanwhile(void **state)
{
	(void)state;
	for (int longer = 0; longer < 2; longer++) {
		RUN(1000);

		THREAD(.pid = 10, .comm = "sh", .waits = { { WAIT_CHILD, 1000, 1, 0 } });
		THREAD(.pid = 11, .comm = "wc", .on_cpu = 100,
		       .waits = { { WAIT_PIPE, 800, 8000 - (uint64_t)longer, 0 } });
		THREAD(.pid = 12, .comm = "head", .on_cpu = 900);
		PART(800, .kind = WAIT_PIPE, .via = WAIT_CHILD, .program = "wc", .thread = "wc");
		PART(100, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "wc", .thread = "wc");
		PART(100, .kind = PATH_CPU, .via = WAIT_PIPE, .program = "head", .thread = "head");
		run->path.threshold_ns = 100000;
		assert_cause(run, longer ? CAUSE_PIPE : CAUSE_PIPE_STAGE);
		if (!longer)
			assert_string_equal(judge_as_is(run).who, "head");
	}
}

static void spin(struct run *run, const char *call, uint64_t count, uint64_t vain, uint64_t others)
{
	THREAD(.pid = 10, .on_cpu = 1000, .kernel = 300,
	       .calls = { { call, count, 200, EAGAIN, vain }, { "getpid", others, 1, 0, 0 } });
	PART(1000, .kind = PATH_CPU);
}

static void calls_in_vain_all_the_time_are_spinning(void **state)
{
	static const struct {
		const char *call;
		uint64_t count, vain, others;
		enum run_cause cause;
	} scenes[] = {
		{ "sched_yield", 200000, 0, 50000, CAUSE_SPINNING },
		{ "sched_yield", 200000, 0, 50001, CAUSE_CPU }, /* less than 80 % of all calls */
		{ "sched_yield", 20000, 0, 0, CAUSE_SPINNING },
		{ "sched_yield", 19999, 0, 0, CAUSE_CPU },
		{ "recvfrom", 200000, 200000, 10, CAUSE_SPINNING },
		{ "recvfrom", 200000, 100000, 10,
		  CAUSE_CPU }, /* every second one brings something */
		{ "poll", 200000, 0, 10, CAUSE_SPINNING },
		{ "poll", 200000, 0, 200000, CAUSE_CPU },
		{ "wait4", 200005, 0, 50000, CAUSE_SPINNING }, /* one may have found its process */
		{ "wait4", 200004, 0, 50000, CAUSE_CPU },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		spin(run, scenes[i].call, scenes[i].count, scenes[i].vain, scenes[i].others);
		assert_cause(run, scenes[i].cause);
	}
}

/* A shell that waits for each of its children asks for none of them in vain. */
static void calls_that_waited_for_a_child_are_not_in_vain(void **state)
{
	(void)state;
	for (uint64_t more = 0; more < 2; more++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 900, .kernel = 300,
		       .waits = { { WAIT_CHILD, 100, 19999 + more, 0 } },
		       .calls = { { "wait4", 100000, 200, 0, 0 } });
		PART(900, .kind = PATH_CPU);
		PART(100, .kind = WAIT_CHILD);
		assert_cause(run, more ? CAUSE_CPU : CAUSE_SPINNING);
	}
}

static void the_kernel_computes_from_six_tenths_on(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 1000, .kernel = 600 - less,
		       .calls = { { "openat", 1000, 500, 0, 0 } });
		PART(1000, .kind = PATH_CPU);
		assert_cause(run, less ? CAUSE_CPU : CAUSE_KERNEL_CPU);
	}
}

static void a_hundred_short_children_do_not_outweigh_a_sleep(void **state)
{
	(void)state;
	for (int asleep = 0; asleep < 2; asleep++) {
		RUN(1000);

		for (int i = 1; i <= 100; i++)
			THREAD(.pid = 10 + i, .comm = "true", .on_cpu = 1);
		PART(100, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "true", .processes = 100);
		if (asleep)
			PART(900, .kind = WAIT_TIMER, .via = WAIT_CHILD, .program = "sleep");
		assert_cause(run, asleep ? CAUSE_SLEEP : CAUSE_FORK_STORM);
	}
}

static void short_processes_make_a_storm(void **state)
{
	static const struct {
		uint64_t processes;
		double ms;
		enum run_cause cause;
	} scenes[] = {
		{ 20, 160, CAUSE_FORK_STORM },
		{ 19, 150, CAUSE_CPU },
		{ 20, 160.1, CAUSE_CPU }, /* more than 8 ms each */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(200);

		THREAD(.pid = 10, .comm = "sh");
		for (int k = 1; k <= 20; k++)
			THREAD(.pid = 10 + k, .comm = "true", .on_cpu = 8);
		PART(scenes[i].ms, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "true",
		     .processes = scenes[i].processes);
		PART(10, .kind = PATH_CPU, .program = "sh");
		assert_cause(run, scenes[i].cause);
	}
}

/* Each start waits for a CPU twice, behind others: 8 ms are usual, more is want of a CPU. */
static void a_storm_is_a_storm_too_where_others_want_the_cpus(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		double queue = 160 + more;
		RUN(200 + more);

		THREAD(.pid = 10, .comm = "sh");
		for (int k = 1; k <= 20; k++)
			THREAD(.pid = 10 + k, .comm = "true", .on_cpu = 2, .run_queue = 8);
		PART(40, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "true", .processes = 20);
		PART(queue, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(queue), .peer = "hog");
		assert_cause(run, more ? CAUSE_RUN_QUEUE : CAUSE_FORK_STORM);
	}
}

/* A few children at the start do not make what follows a storm. */
static void a_program_that_computes_after_many_short_children_is_no_storm(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .comm = "python3", .on_cpu = 900);
	for (int i = 1; i <= 50; i++)
		THREAD(.pid = 10 + i, .comm = "sh", .on_cpu = 2);
	PART(900, .kind = PATH_CPU, .program = "python3");
	PART(100, .kind = PATH_CPU, .via = WAIT_CHILD, .program = "sh", .processes = 50);
	assert_cause(run, CAUSE_CPU);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_that_outlasts_others_is_named),
		cmocka_unit_test(a_child_is_alone_at_the_end),
		cmocka_unit_test(a_stage_is_waited_for_piece_by_piece),
		cmocka_unit_test(no_child_outlasts_others_of_its_kind),
		cmocka_unit_test(a_child_is_told_from_a_thread_by_its_command),
		cmocka_unit_test(of_many_children_none_is_named),
		cmocka_unit_test(threads_of_a_child_are_not_outlasted_by_it),
		cmocka_unit_test(jobs_take_turns_if_a_lock_leads_from_one_to_the_next),
		cmocka_unit_test(a_stage_holds_a_pipeline_up_if_others_wait_half_of_its_time),
		cmocka_unit_test(two_that_answer_each_other_are_held_up_by_their_pipe),
		cmocka_unit_test(long_stretches_hand_nothing_over),
		cmocka_unit_test(a_thread_is_named_if_it_computed_nearly_all),
		cmocka_unit_test(who_computes_nearly_all_hands_nothing_over),
		cmocka_unit_test(short_waits_are_put_down_to_who_computed_meanwhile),
		cmocka_unit_test(calls_in_vain_all_the_time_are_spinning),
		cmocka_unit_test(calls_that_waited_for_a_child_are_not_in_vain),
		cmocka_unit_test(the_kernel_computes_from_six_tenths_on),
		cmocka_unit_test(short_processes_make_a_storm),
		cmocka_unit_test(a_storm_is_a_storm_too_where_others_want_the_cpus),
		cmocka_unit_test(a_program_that_computes_after_many_short_children_is_no_storm),
		cmocka_unit_test(a_hundred_short_children_do_not_outweigh_a_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
