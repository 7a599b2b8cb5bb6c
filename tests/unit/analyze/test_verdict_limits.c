/* SPDX-License-Identifier: MIT */
/* Memory, and the limits of memory and of descriptors. */
#include "verdict_scene.h"

#include <errno.h>
#include <signal.h>

static void a_storm_of_page_faults_is_memory_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1250, .faults = 1000000,
	       .calls = { { "madvise", 60, 180, 0, 0 } });
	assert_cause(run, CAUSE_PAGE_FAULTS);
}

static void page_faults_are_named_without_system_calls_too(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1250, .faults = 1600000);
	assert_cause(run, CAUSE_PAGE_FAULTS);
}

static void mappings_that_come_and_go_are_mmap_churn(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1300, .faults = 350000,
	       .calls = { { "mmap", 350000, 280, 0, 0 }, { "munmap", 350000, 480, 0, 0 } });
	assert_cause(run, CAUSE_MMAP_CHURN);
}

static void stalls_above_memory_high_are_a_memory_limit(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 400, .kernel = 350, .faults = 30000,
	       .waits = { { WAIT_MEMORY, 1050, 300, 0 } });
	run->limits.cgroup_memory_high_hits = KNOWN(600);
	run->limits.cgroup_memory_some_us = KNOWN(1200000);
	assert_cause(run, CAUSE_MEMORY_LIMIT);
}

static void an_oom_kill_outweighs_everything(void **state)
{
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 100, .kernel = 80, .faults = 16000,
	       .waits = { { WAIT_TIMER, 300, 64, 0 } });
	run->tree->oom_kills = 1;
	assert_cause(run, CAUSE_OOM_KILL);
}

/* The shell that started it goes on; who sent other signals is not to be taken for the victim. */
static void who_was_killed_for_want_of_memory_is_named(void **state)
{
	struct verdict verdict;
	struct tree_event event;
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .comm = "sh", .waits = { { WAIT_CHILD, 390, 1, 0 } });
	THREAD(.pid = 11, .comm = "job", .on_cpu = 10);
	THREAD(.pid = 12, .comm = "perl", .on_cpu = 390);
	hand_end_process(run, 11, SIGKILL);
	event = hand_event(run, TREE_OOM, 12, 12);
	hand_apply(run, &event);
	run->limits.cgroup_oom_kills = KNOWN(1);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_OOM_KILL);
	assert_string_equal(verdict.who, "perl");
	assert_non_null(strstr(verdict.evidence[0], "killed perl (12)"));
}

static void a_kill_in_the_cgroup_is_ours_when_one_of_ours_was_killed(void **state)
{
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 390);
	hand_end_process(run, 10, SIGKILL);
	run->limits.cgroup_oom_kills = KNOWN(1);
	assert_cause(run, CAUSE_OOM_KILL);
	assert_string_equal(judge(run).who, "worker");
}

static void a_kill_of_a_stranger_in_the_cgroup_is_not_ours(void **state)
{
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 390);
	hand_end_process(run, 10, 0);
	run->limits.cgroup_oom_kills = KNOWN(1);
	assert_cause(run, CAUSE_CPU);
}

static void calls_that_fail_for_want_of_descriptors_are_named(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .waits = { { WAIT_TIMER, 1430, 1300, 0 } },
	       .calls = { { "openat", 1553, 5, EMFILE, 1300 }, { "nanosleep", 1300, 1400, 0, 0 } });
	assert_cause(run, CAUSE_FD_LIMIT);
}

static void add_descriptors(struct run *run, int32_t pid, uint64_t open, uint64_t limit)
{
	struct tree_event event = hand_event(run, TREE_PROCESS, pid, pid);

	event.process.present = TREE_PROCESS_FDS | TREE_PROCESS_FD_LIMIT;
	event.process.fds = open;
	event.process.fd_limit = limit;
	hand_apply(run, &event);
}

static void a_full_table_of_descriptors_is_named_where_calls_are_not_watched(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .lives = true, .waits = { { WAIT_TIMER, 1430, 1300, 0 } });
	add_descriptors(run, 10, 256, 256);
	assert_cause(run, CAUSE_FD_LIMIT);
}

static void a_table_with_three_free_descriptors_is_not_full(void **state)
{
	(void)state;
	for (uint64_t open = 253; open <= 254; open++) {
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 60, .lives = true,
		       .waits = { { WAIT_TIMER, 1430, 1300, 0 } });
		add_descriptors(run, 10, open, 256);
		assert_cause(run, open == 254 ? CAUSE_FD_LIMIT : CAUSE_SLEEP);
	}
}

/* With more than 64 faults a mapping, touching memory is the cause. */
static void mappings_that_are_touched_a_lot_are_page_faults(void **state)
{
	(void)state;
	for (uint64_t more = 0; more < 2; more++) {
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1300, .faults = 640000 + more,
		       .calls = { { "mmap", 5000, 100, 0, 0 }, { "munmap", 5000, 300, 0, 0 } });
		assert_cause(run, more ? CAUSE_PAGE_FAULTS : CAUSE_MMAP_CHURN);
	}
}

static void a_full_table_does_no_harm_where_no_call_failed(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .lives = true, .waits = { { WAIT_TIMER, 1430, 1300, 0 } },
	       .calls = { { "nanosleep", 1300, 1430, 0, 0 } });
	add_descriptors(run, 10, 256, 256);
	assert_cause(run, CAUSE_SLEEP);
}

static void waits_for_a_map_are_churn_only_where_threads_share_it(void **state)
{
	(void)state;
	for (int threads = 1; threads < 3; threads++) {
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 200, .kernel = 90, .faults = 9000,
		       .waits = { { WAIT_MEMORY, 1250, 900, 0 } },
		       .calls = { { "munmap", 9000, 1200, 0, 0 } });
		if (threads > 1)
			THREAD(.pid = 10, .tid = 11, .on_cpu = 1,
			       .waits = { { WAIT_CONDITION, 1499, 1, 0 } });
		assert_cause(run, threads > 1 ? CAUSE_MMAP_CHURN : CAUSE_NONE);
	}
}

static void who_reached_a_limit_is_named(void **state)
{
	static const uint8_t kinds[] = { WAIT_MEMORY, WAIT_DISK };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct verdict verdict;
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 400, .waits = { { kinds[i], 1050, 300, 0 } });
		PART(1050, .kind = kinds[i], .program = "job");
		PART(400, .kind = PATH_CPU, .program = "else");
		hand_sum_up(run);
		run->limits.cgroup_memory_high_hits = KNOWN(600);
		run->limits.cgroup_refaults = KNOWN(1000);
		amounts_set(&run->tree->amounts, AMOUNT_read_bytes, 4096000);
		verdict = judge_as_is(run);
		assert_int_equal(verdict.cause, CAUSE_MEMORY_LIMIT);
		assert_string_equal(verdict.who, "job");
	}
}

static void who_has_no_descriptor_left_is_named(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .comm = "server",
	       .calls = { { "openat", 1553, 5, EMFILE, 1300 } });
	hand_sum_up(run);
	run->tree->fullest = run->tree->all[0];
	assert_string_equal(judge_as_is(run).who, "server");
}

/* A limit that is reached and left within moments is not seen with many descriptors open. */
static void descriptors_are_counted_where_they_were_seen(void **state)
{
	(void)state;
	for (uint64_t left = 2; left <= 3; left++) {
		struct verdict verdict;
		RUN(1500);

		THREAD(.pid = 10, .on_cpu = 60, .comm = "server",
		       .calls = { { "openat", 100, 5, EMFILE, 10 } });
		hand_sum_up(run);
		run->tree->fullest = run->tree->all[0];
		run->tree->fullest->facts.present |= TREE_PROCESS_FD_LIMIT;
		run->tree->fullest->facts.fd_limit = 20;
		run->tree->fullest->peak_fds = 20 - left;
		verdict = judge_as_is(run);
		assert_non_null(strstr(verdict.evidence[0],
				       left == 2 ? "; server had 18 of 20 descriptors open" :
						   "; server may have 20 descriptors open"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_reached_a_limit_is_named),
		cmocka_unit_test(who_has_no_descriptor_left_is_named),
		cmocka_unit_test(descriptors_are_counted_where_they_were_seen),
		cmocka_unit_test(waits_for_a_map_are_churn_only_where_threads_share_it),
		cmocka_unit_test(a_storm_of_page_faults_is_memory_bound),
		cmocka_unit_test(page_faults_are_named_without_system_calls_too),
		cmocka_unit_test(mappings_that_come_and_go_are_mmap_churn),
		cmocka_unit_test(stalls_above_memory_high_are_a_memory_limit),
		cmocka_unit_test(an_oom_kill_outweighs_everything),
		cmocka_unit_test(who_was_killed_for_want_of_memory_is_named),
		cmocka_unit_test(a_kill_in_the_cgroup_is_ours_when_one_of_ours_was_killed),
		cmocka_unit_test(a_kill_of_a_stranger_in_the_cgroup_is_not_ours),
		cmocka_unit_test(calls_that_fail_for_want_of_descriptors_are_named),
		cmocka_unit_test(a_full_table_of_descriptors_is_named_where_calls_are_not_watched),
		cmocka_unit_test(a_table_with_three_free_descriptors_is_not_full),
		cmocka_unit_test(mappings_that_are_touched_a_lot_are_page_faults),
		cmocka_unit_test(a_full_table_does_no_harm_where_no_call_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
