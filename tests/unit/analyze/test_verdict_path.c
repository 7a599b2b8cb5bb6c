/* SPDX-License-Identifier: MIT */
/* Verdicts along the critical path: waits, the queue for CPUs, and limits. */
#include <errno.h>
#include <stdio.h>

#include "verdict_scene.h"

static void a_path_decides_whatever_other_threads_did(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 100, .waits = { { WAIT_TIMER, 900, 1, 0 } });
	for (int i = 1; i < 9; i++)
		THREAD(.pid = 10 + i, .on_cpu = 400, .run_queue = 500,
		       .waits = { { WAIT_LOCK, 100, 9, 0 } });
	PART(900, .kind = WAIT_TIMER);
	PART(100, .kind = PATH_CPU);
	assert_cause(run, CAUSE_SLEEP);
}

/* If more than a tenth of the path was not seen, the sums are judged instead. */
static void a_path_counts_as_long_as_nearly_all_of_it_was_seen(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 990);
		PART(900 - more, .kind = WAIT_TIMER);
		PART(100 + more, .kind = PATH_NOT_SEEN);
		assert_cause(run, more ? CAUSE_CPU : CAUSE_SLEEP);
	}
}

static void who_sleeps_and_its_command_are_named(void **state)
{
	struct verdict verdict;
	RUN(1000);

	(void)state;
	PART(990, .kind = WAIT_TIMER, .via = WAIT_CHILD, .program = "sleep", .command = "sleep 1");
	PART(10, .kind = PATH_CPU, .program = "sh");
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_SLEEP);
	assert_string_equal(verdict.who, "sleep");
	assert_non_null(strstr(verdict.evidence[1], "sleep 1"));
	assert_true(verdict.score > 0.7);
}

static void queue_behind_others_starves_from_half_of_the_time_on(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		struct verdict verdict;
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 500 + less, .run_queue = 500 - less);
		PART(500 - less, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(500 - less),
		     .peer = "hog", .peer_ns = hand_ns(400));
		PART(500 + less, .kind = PATH_CPU);
		verdict = judge(run);
		assert_int_equal(verdict.cause, less ? CAUSE_CPU : CAUSE_RUN_QUEUE);
		if (!less)
			assert_string_equal(verdict.who, "hog");
	}
}

/* A program that waits for others nearly as long as it computes may be limited by either. */
static void a_cause_beside_much_waiting_for_others_is_less_sure(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 650 + less, .run_queue = 350 - less);
		PART(650 + less, .kind = PATH_CPU);
		PART(350 - less, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(350 - less),
		     .peer = "hog");
		assert_int_equal(judge(run).score > 0.65, less);
	}
}

/* Whoever seemed to have the CPU: the hypervisor had it for its part of the time that it was wanted. */
static void stolen_time_is_part_of_the_queue(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		struct verdict verdict;
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 200, .run_queue = 800);
		/* 320 others, 280 its own tree, 200 nobody: the hypervisor had 3/8 of each. */
		PART(800, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(320),
		     .by_tree_ns = hand_ns(280), .peer = "hog", .peer_ns = hand_ns(320));
		PART(200, .kind = PATH_CPU);
		run->limits.host_steal_ns = KNOWN(3000 - 600 * (uint64_t)less);
		run->limits.host_busy_ns = KNOWN(5000 + 600 * (uint64_t)less);
		verdict = judge(run);
		assert_int_equal(verdict.cause, less ? CAUSE_CPU : CAUSE_RUN_QUEUE);
		if (less)
			continue;
		/* 800 * 3/8 = 300, and 320 * 5/8 = 200 for which others had it: half of the time */
		assert_string_equal(verdict.who, "the hypervisor");
		assert_non_null(strstr(verdict.evidence[0], "; to the hypervisor 300 ms"));
	}
}

/* The quota's part comes first; and all of the queue is not more than the queue. */
static void stolen_time_is_never_more_than_the_queue(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 450, .run_queue = 1050);
	PART(1050, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(1050), .peer = "cc1");
	PART(450, .kind = PATH_CPU);
	run->limits.host_steal_ns = KNOWN(UINT64_MAX);
	run->limits.host_busy_ns = KNOWN(0);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_RUN_QUEUE);
	assert_non_null(strstr(verdict.evidence[0], "; to the hypervisor 1.05 s"));
	throttle(run, 1000);
	assert_cause(run, CAUSE_CPU_QUOTA);
}

static void without_stolen_time_others_are_named(void **state)
{
	struct verdict verdict;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 200, .run_queue = 800);
	PART(800, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(800), .peer = "hog");
	PART(200, .kind = PATH_CPU);
	run->limits.host_steal_ns = KNOWN(0);
	run->limits.host_busy_ns = KNOWN(5000);
	verdict = judge(run);
	assert_string_equal(verdict.who, "hog");
	assert_null(strstr(verdict.evidence[0], "hypervisor"));
}

/* Up to the usual, a queue behind others says nothing about the program. */
static void queue_behind_others_does_not_hide_a_wait(void **state)
{
	struct verdict verdict;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .run_queue = 480, .waits = { { WAIT_DISK, 460, 90, 0 } });
	PART(480, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(480));
	PART(460, .kind = WAIT_DISK);
	PART(60, .kind = PATH_CPU);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_DISK);
	assert_true(verdict.score > 0.8);
}

static void queue_behind_its_own_tree_counts_from_three_tenths_on(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 290, .run_queue = 300);
		PART(300 - less, .kind = PATH_RUN_QUEUE, .by_tree_ns = hand_ns(300 - less));
		PART(290 + less, .kind = PATH_CPU);
		PART(205, .kind = WAIT_TIMER);
		PART(205, .kind = WAIT_DISK);
		assert_int_equal(judge(run).cause, less ? CAUSE_CPU : CAUSE_OVERSUBSCRIBED);
	}
}

/* Two threads share the one CPU that others leave them, of two: alone, each would have its own. */
static void threads_that_others_push_together_are_starved(void **state)
{
	static const struct {
		uint64_t others_ms;
		enum run_cause cause;
	} scenes[] = {
		{ 0, CAUSE_OVERSUBSCRIBED },
		{ 333, CAUSE_OVERSUBSCRIBED },
		{ 334, CAUSE_CPU }, /* 600 ms less a third of them is less than it computes */
		{ 833, CAUSE_CPU },
		{ 834, CAUSE_RUN_QUEUE }, /* five sixths are half of the time */
		{ 5000, CAUSE_RUN_QUEUE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 400, .run_queue = 500);
		THREAD(.pid = 10, .tid = 11, .on_cpu = 400, .run_queue = 500);
		PART(600, .kind = PATH_RUN_QUEUE, .by_tree_ns = hand_ns(600));
		PART(400, .kind = PATH_CPU);
		run->limits.host_busy_ns = KNOWN((800 + scenes[i].others_ms) * MS);
		assert_cause(run, scenes[i].cause);
	}
}

static void a_tree_with_too_many_threads_is_not_put_on_a_stranger(void **state)
{
	struct verdict verdict;

	(void)state;
	RUN(1000);
	THREAD(.pid = 10, .on_cpu = 290, .run_queue = 600);
	PART(600, .kind = PATH_RUN_QUEUE, .program = "cc1", .by_tree_ns = hand_ns(500),
	     .by_outside_ns = hand_ns(100), .peer = "hog", .peer_ns = hand_ns(100));
	PART(400, .kind = PATH_CPU, .program = "cc1");
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_OVERSUBSCRIBED);
	assert_string_equal(verdict.who, "cc1");
	for (size_t i = 0; i < verdict.evidence_count; i++)
		assert_null(strstr(verdict.evidence[i], "hog"));
	assert_non_null(strstr(verdict.evidence[0], " busy"));
}

static void a_quota_is_named_rather_than_who_ran_meanwhile(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 450, .run_queue = 1050);
	PART(1050, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(1050), .peer = "cc1");
	PART(450, .kind = PATH_CPU);
	throttle(run, 1000);
	assert_cause(run, CAUSE_CPU_QUOTA);
}

static void a_client_that_polls_more_often_than_it_reads_waits_for_its_server(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 20, .waits = { { WAIT_POLL, 1480, 70, 0 } },
	       .calls = { { "poll", 700, 1480, 0, 0 },
			  { "recvfrom", 2, 1, 0, 0 },
			  { "connect", 1, 0.2, EINPROGRESS, 1 } });
	PART(1480, .kind = WAIT_POLL, .program = "curl", .peer = "server", .peer_ns = hand_ns(300));
	PART(20, .kind = PATH_CPU, .program = "curl");
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NETWORK);
	assert_string_equal(verdict.who, "server");
	assert_true(verdict.score > 0.9);
}

/* A connection that was refused is none. */
static void a_program_whose_connect_failed_waits_for_events(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 20, .waits = { { WAIT_POLL, 1480, 2, 0 } },
	       .calls = { { "poll", 2, 1480, 0, 0 },
			  { "socket", 2, 1, 0, 0 },
			  { "connect", 1, 0.2, ENOENT, 1 } });
	PART(1480, .kind = WAIT_POLL);
	PART(20, .kind = PATH_CPU);
	assert_cause(run, CAUSE_POLL);
}

/* The part that it says most about is the wait, not the little that it did. */
static void a_server_in_accept_is_named_by_its_wait(void **state)
{
	struct verdict verdict;
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1, .waits = { { WAIT_NETWORK, 1999, 1, 0 } }, .lives = true,
	       .now_in = "accept");
	PART(1999, .kind = WAIT_NETWORK, .program = "server");
	PART(1, .kind = PATH_CPU, .program = "server");
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_POLL);
	assert_string_equal(verdict.evidence[1], "100 % in server");
}

/* A condition wait that nobody ended and that is over had a time limit. */
static void a_condition_that_nobody_signals_is_a_sleep_unless_it_still_waits(void **state)
{
	(void)state;
	for (int lives = 0; lives < 2; lives++) {
		RUN(1500);

		THREAD(.pid = 10, .waits = { { WAIT_CONDITION, 1490, 1, 0 } }, .lives = lives,
		       .now_in = "futex");
		PART(1490, .kind = WAIT_CONDITION);
		PART(10, .kind = PATH_CPU);
		assert_cause(run, lives ? CAUSE_POLL : CAUSE_SLEEP);
	}
}

static void what_holds_a_stopped_thread_is_told_apart(void **state)
{
	static const enum run_cause causes_by_object[] = { CAUSE_STOPPED, CAUSE_STOPPED,
							   CAUSE_TRACED, CAUSE_FROZEN };

	(void)state;
	for (uint64_t object = 0; object < ARRAY_SIZE(causes_by_object); object++) {
		struct path_segment segment = { .end_ns = 1000 * MS,
						.kind = WAIT_STOPPED,
						.via = PATH_DIRECT,
						.object = object };
		RUN(1000);

		PART(1000, .kind = WAIT_STOPPED);
		assert_int_equal(critical_path_add_segment(&run->path, &segment), 0);
		assert_cause(run, causes_by_object[object]);
	}
}

static void many_stops_that_are_too_short_to_follow_are_a_tracers(void **state)
{
	(void)state;
	for (uint64_t stops = 9; stops <= 10; stops++) {
		RUN(1000);

		THREAD(.pid = 10, .waits = { { WAIT_STOPPED, 900, stops, 0 } });
		PART(900, .kind = WAIT_STOPPED);
		PART(100, .kind = PATH_CPU);
		assert_cause(run, stops < 10 ? CAUSE_STOPPED : CAUSE_TRACED);
	}
}

static void a_circle_of_waits_is_a_deadlock(void **state)
{
	struct verdict verdict;
	RUN(1000);

	(void)state;
	PART(1000, .kind = WAIT_LOCK);
	run->deadlock = (struct run_deadlock){
		{ { 10, 11, "left", "a lock" }, { 10, 12, "ri\033ght", "a lock" } }, 2
	};
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_DEADLOCK);
	assert_string_equal(verdict.evidence[0],
			    "2 threads wait for each other: left (11), ri\\x1bght (12)");
	run->deadlock.count = 1;
	assert_string_equal(judge(run).evidence[0], "a thread waits for itself: left (11)");
}

/* Pages that come back after they were thrown out are read because of the limit. */
static void reading_again_what_a_memory_limit_threw_out_is_the_limit(void **state)
{
	(void)state;
	for (int limited = 0; limited < 2; limited++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 400, .kernel = 380,
		       .waits = { { WAIT_DISK, 600, 9, 0 } });
		PART(600, .kind = WAIT_DISK);
		PART(400, .kind = PATH_CPU);
		hand_sum_up(run);
		amounts_set(&run->tree->amounts, AMOUNT_read_bytes, 4096 * 20000ULL);
		run->limits.cgroup_refaults = KNOWN(20000);
		if (limited)
			run->limits.cgroup_memory_limit_bytes = KNOWN(24 << 20);
		assert_int_equal(judge_as_is(run).cause, limited ? CAUSE_MEMORY_LIMIT : CAUSE_DISK);
	}
}

/* From three of eight on it is more than the disk would have taken anyway. */
static void only_what_was_thrown_out_counts_for_the_memory_limit(void **state)
{
	(void)state;
	for (uint64_t back = 7400; back <= 7600; back += 200) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 400, .kernel = 380,
		       .waits = { { WAIT_DISK, 600, 9, 0 } });
		PART(600, .kind = WAIT_DISK);
		PART(400, .kind = PATH_CPU);
		hand_sum_up(run);
		amounts_set(&run->tree->amounts, AMOUNT_read_bytes, 4096 * 20000ULL);
		run->limits.cgroup_refaults = KNOWN(back);
		run->limits.cgroup_memory_limit_bytes = KNOWN(24 << 20);
		assert_int_equal(judge_as_is(run).cause,
				 back > 7500 ? CAUSE_MEMORY_LIMIT : CAUSE_DISK);
	}
}

static void what_explains_less_than_a_seventh_is_no_cause(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		THREAD(.pid = 10, .on_cpu = 150);
		PART(150 - less, .kind = PATH_CPU);
		PART(145 + less, .kind = WAIT_DISK);
		PART(141, .kind = WAIT_TIMER);
		PART(141, .kind = WAIT_POLL);
		PART(141, .kind = WAIT_PIPE);
		PART(141, .kind = WAIT_NETWORK);
		PART(141, .kind = WAIT_LOCK);
		assert_int_equal(judge(run).cause, less ? CAUSE_NONE : CAUSE_CPU);
	}
}

/* 20 us of CPU for each stop; then 30 us, of which half is put down to stops, and more. */
static void a_tracer_on_the_path_does_little_but_stop_the_program(void **state)
{
	static const struct {
		uint64_t stops;
		enum run_cause cause;
	} scenes[] = { { 40000, CAUSE_TRACED }, { 26667, CAUSE_TRACED }, { 26400, CAUSE_CPU } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++) {
		struct verdict verdict;
		RUN(1000);

		THREAD(.pid = 10, .comm = "strace", .on_cpu = 800,
		       .waits = { { WAIT_CHILD, 200, 40000, 0 } });
		THREAD(.pid = 11, .comm = "perl",
		       .waits = { { WAIT_STOPPED, 800, scenes[i].stops, 0 } });
		PART(800, .kind = PATH_CPU, .program = "strace");
		PART(190, .kind = WAIT_CHILD, .program = "strace");
		PART(10, .kind = WAIT_STOPPED, .via = WAIT_CHILD, .program = "perl");
		verdict = judge(run);
		assert_int_equal(verdict.cause, scenes[i].cause);
		assert_string_equal(verdict.who, "strace");
	}
}

/* What could not be moved for want of a CPU was not held back by the limit. */
static void a_limit_of_io_counts_while_there_is_a_cpu(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1400);

		THREAD(.pid = 10, .run_queue = 400, .waits = { { WAIT_DISK, 1000, 9, 0 } });
		PART(1000, .kind = WAIT_DISK);
		PART(400, .kind = PATH_RUN_QUEUE, .by_outside_ns = hand_ns(400));
		hand_sum_up(run);
		amounts_set(&run->tree->amounts, AMOUNT_write_bytes, (2 << 20) - (uint64_t)less);
		run->limits.cgroup_io_limit_bytes = KNOWN(5 << 20);
		assert_int_equal(judge_as_is(run).cause, less ? CAUSE_DISK : CAUSE_BLKIO_LIMIT);
	}
}

static void a_limit_of_io_counts_if_two_fifths_of_it_are_used(void **state)
{
	(void)state;
	for (int less = 0; less < 2; less++) {
		RUN(1000);

		PART(1000, .kind = WAIT_DISK);
		hand_sum_up(run);
		amounts_set(&run->tree->amounts, AMOUNT_write_bytes, (2 << 20) - (uint64_t)less);
		run->limits.cgroup_io_limit_bytes = KNOWN(5 << 20);
		assert_int_equal(judge_as_is(run).cause, less ? CAUSE_DISK : CAUSE_BLKIO_LIMIT);
	}
}

static void a_few_refusals_of_descriptors_do_not_outweigh_computing(void **state)
{
	(void)state;
	for (uint64_t refusals = 9; refusals <= 10; refusals++) {
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 1490,
		       .calls = { { "openat", 20, 1, EMFILE, refusals } });
		PART(1490, .kind = PATH_CPU);
		PART(10, .kind = PATH_RUN_QUEUE);
		assert_cause(run, refusals < 10 ? CAUSE_CPU : CAUSE_FD_LIMIT);
	}
}

static void one_refusal_counts_if_the_command_failed(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .calls = { { "openat", 20, 1, EMFILE, 1 } });
	PART(1500, .kind = PATH_CPU);
	run->has_status = true;
	run->status = 1 << 8;
	assert_cause(run, CAUSE_FD_LIMIT);
}

static void the_off_cpu_analysis_is_of_the_path_too(void **state)
{
	struct diagnosis diagnosis;
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 10, .waits = { { WAIT_LOCK, 990, 9, 0 } });
	PART(800, .kind = WAIT_TIMER);
	PART(200, .kind = WAIT_DISK);
	hand_sum_up(run);
	diagnose(run, &diagnosis);
	assert_int_equal(diagnosis.verdict.cause, CAUSE_SLEEP);
	assert_int_equal(diagnosis.offcpu.bottleneck, OFFCPU_SLEEP);
	assert_float_equal(diagnosis.offcpu.io_wait_percentage, 20, 0.01);
	assert_float_equal(diagnosis.offcpu.lock_contention_percentage, 0, 0.01);
}

static void a_path_of_a_bad_file_ends_in_a_verdict(void **state)
{
	RUN(1000);

	(void)state;
	for (uint8_t kind = 0; kind < 255; kind += 5)
		PART(1e9, .kind = kind, .via = (uint8_t)(255 - kind), .by_tree_ns = UINT64_MAX,
		     .by_outside_ns = UINT64_MAX, .peer_ns = UINT64_MAX);
	run->path.total_ns = 1;
	assert_in_range(judge(run).cause, 0, CAUSE_COUNT - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cause_beside_much_waiting_for_others_is_less_sure),
		cmocka_unit_test(a_path_decides_whatever_other_threads_did),
		cmocka_unit_test(a_path_counts_as_long_as_nearly_all_of_it_was_seen),
		cmocka_unit_test(who_sleeps_and_its_command_are_named),
		cmocka_unit_test(queue_behind_others_starves_from_half_of_the_time_on),
		cmocka_unit_test(stolen_time_is_part_of_the_queue),
		cmocka_unit_test(stolen_time_is_never_more_than_the_queue),
		cmocka_unit_test(without_stolen_time_others_are_named),
		cmocka_unit_test(queue_behind_others_does_not_hide_a_wait),
		cmocka_unit_test(queue_behind_its_own_tree_counts_from_three_tenths_on),
		cmocka_unit_test(threads_that_others_push_together_are_starved),
		cmocka_unit_test(a_tree_with_too_many_threads_is_not_put_on_a_stranger),
		cmocka_unit_test(a_quota_is_named_rather_than_who_ran_meanwhile),
		cmocka_unit_test(a_client_that_polls_more_often_than_it_reads_waits_for_its_server),
		cmocka_unit_test(a_program_whose_connect_failed_waits_for_events),
		cmocka_unit_test(a_server_in_accept_is_named_by_its_wait),
		cmocka_unit_test(a_condition_that_nobody_signals_is_a_sleep_unless_it_still_waits),
		cmocka_unit_test(what_holds_a_stopped_thread_is_told_apart),
		cmocka_unit_test(many_stops_that_are_too_short_to_follow_are_a_tracers),
		cmocka_unit_test(a_circle_of_waits_is_a_deadlock),
		cmocka_unit_test(reading_again_what_a_memory_limit_threw_out_is_the_limit),
		cmocka_unit_test(only_what_was_thrown_out_counts_for_the_memory_limit),
		cmocka_unit_test(what_explains_less_than_a_seventh_is_no_cause),
		cmocka_unit_test(a_limit_of_io_counts_if_two_fifths_of_it_are_used),
		cmocka_unit_test(a_limit_of_io_counts_while_there_is_a_cpu),
		cmocka_unit_test(a_tracer_on_the_path_does_little_but_stop_the_program),
		cmocka_unit_test(a_few_refusals_of_descriptors_do_not_outweigh_computing),
		cmocka_unit_test(one_refusal_counts_if_the_command_failed),
		cmocka_unit_test(the_off_cpu_analysis_is_of_the_path_too),
		cmocka_unit_test(a_path_of_a_bad_file_ends_in_a_verdict),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
