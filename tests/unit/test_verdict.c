/*
 * Each test has the numbers that a small program of that kind gives.
 */
#include "hand_run.h"

#include <errno.h>
#include <signal.h>

#include "analyze/diagnosis.h"
#include "base/cleanup.h"
#include "base/text.h"

#define RUN(ms) CLEANUP(run_free_pointer) struct run *run = hand_run(ms)
#define THREAD(...) hand_thread(run, &(struct hand_thread){ __VA_ARGS__ })

static struct verdict judge(struct run *run)
{
	struct diagnosis diagnosis;

	hand_settle(run);
	diagnose(run, &diagnosis);
	return diagnosis.verdict;
}

static void check_form(const struct verdict *verdict)
{
	assert_in_range(verdict->evidence_count, 1, 4);
	for (size_t i = 0; i < verdict->evidence_count; i++) {
		assert_in_range(text_width(verdict->evidence[i]), 1, 100);
		assert_int_not_equal(verdict->evidence[i][strlen(verdict->evidence[i]) - 1], '.');
	}
	assert_true(verdict->confidence >= 0 && verdict->confidence <= 1);
	assert_ptr_equal(verdict->hint, causes[verdict->cause].hint);
}

static void assert_cause(struct run *run, enum run_cause cause)
{
	struct verdict verdict = judge(run);

	assert_string_equal(causes[verdict.cause].name, causes[cause].name);
	assert_string_equal(class_names[verdict.class], class_names[causes[cause].class]);
	check_form(&verdict);
}

static void a_loop_is_cpu_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1480, .kernel = 5, .run_queue = 15, .faults = 90,
	       .calls = { { "mmap", 20, 0.1, 0, 0 }, { "read", 4, 0.1, 0, 0 } }, .moves = 4,
	       .bytes = 3000);
	assert_cause(run, CAUSE_CPU);
}

static void a_loop_on_every_cpu_is_cpu_bound_also_when_its_threads_crowd(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1498, 2, 0 } }, .on_cpu = 2);
	for (int i = 1; i <= 8; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 370, .run_queue = 1130);
	assert_cause(run, CAUSE_CPU);
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

static void a_deadlock_is_lock_bound(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 2; i++)
		THREAD(.pid = 10, .tid = 10 + i, .waits = { { WAIT_LOCK, 1500, 1, 0 } },
		       .lives = true, .now_in = "futex");
	assert_cause(run, CAUSE_LOCK);
}

static void a_build_that_waits_for_its_children_is_not_idle(void **state)
{
	RUN(4000);

	(void)state;
	THREAD(.pid = 10, .comm = "make", .on_cpu = 100, .waits = { { WAIT_CHILD, 3900, 9, 0 } });
	for (int i = 1; i <= 8; i++)
		THREAD(.pid = 10 + i, .comm = "cc1", .on_cpu = 900, .run_queue = 3000, .kernel = 90,
		       .faults = 20000, .waits = { { WAIT_DISK, 60, 20, 0 } });
	assert_cause(run, CAUSE_CPU);
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

static void a_writer_that_syncs_each_block_is_held_up_by_fsync(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 500, .kernel = 450, .run_queue = 20,
	       .waits = { { WAIT_DISK, 980, 5000, 0 } }, .moves = 5000, .bytes = 5000 * 4096ULL,
	       .calls = { { "fsync", 5000, 1300, 0, 0 }, { "pwrite64", 5000, 60, 0, 0 } });
	assert_cause(run, CAUSE_FSYNC);
}

static void fsync_is_named_also_where_it_never_waits(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1300, .moves = 500000,
	       .bytes = 500000 * 4096ULL,
	       .calls = { { "fsync", 500000, 250, 0, 0 }, { "pwrite64", 500000, 600, 0, 0 } });
	assert_cause(run, CAUSE_FSYNC);
}

static void reads_of_single_bytes_are_tiny_io(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1100, .moves = 2500000, .bytes = 2500000,
	       .faults = 100, .calls = { { "read", 2500000, 600, 0, 0 } });
	assert_cause(run, CAUSE_TINY_IO);
}

static void tiny_io_is_named_without_system_calls_too(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 1100, .moves = 4000000, .bytes = 4000000,
	       .faults = 100);
	assert_cause(run, CAUSE_TINY_IO);
}

static void a_program_that_computes_and_reads_large_blocks_is_not_tiny_io(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 300, .moves = 10000, .bytes = 10000 * 65536ULL,
	       .calls = { { "read", 10000, 280, 0, 0 } });
	assert_cause(run, CAUSE_CPU);
}

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

static void a_ping_pong_over_pipes_is_held_up_by_pipes(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 180, .kernel = 40, .moves = 11600, .bytes = 11600,
	       .waits = { { WAIT_PIPE, 1310, 5800, 0 } },
	       .calls = { { "read", 5800, 1320, 0, 0 }, { "write", 5800, 40, 0, 0 } });
	THREAD(.pid = 11, .on_cpu = 1220, .kernel = 40, .moves = 11600, .bytes = 11600,
	       .waits = { { WAIT_PIPE, 270, 5800, 0 } },
	       .calls = { { "read", 5800, 290, 0, 0 }, { "write", 5800, 40, 0, 0 } });
	assert_cause(run, CAUSE_PIPE);
}

static void a_ping_pong_on_a_busy_machine_is_held_up_by_pipes(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 150, .kernel = 30, .run_queue = 450, .moves = 9400,
	       .bytes = 9400, .waits = { { WAIT_PIPE, 860, 3000, 0 } },
	       .calls = { { "read", 4700, 1000, 0, 0 }, { "write", 4700, 60, 0, 0 } });
	THREAD(.pid = 11, .on_cpu = 900, .kernel = 40, .run_queue = 450, .moves = 9400,
	       .bytes = 9400, .waits = { { WAIT_PIPE, 200, 1444, 0 } },
	       .calls = { { "read", 4700, 350, 0, 0 }, { "write", 4700, 60, 0, 0 } });
	assert_cause(run, CAUSE_PIPE);
}

static void a_ping_pong_on_one_cpu_is_held_up_by_pipes(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 2; i++)
		THREAD(.pid = 10 + i, .on_cpu = 720, .kernel = 600, .run_queue = 280,
		       .moves = 500000, .bytes = 1000000,
		       .waits = { { WAIT_PIPE, 500, 250000, 0 } },
		       .calls = { { "read", 250000, 800, 0, 0 }, { "write", 250000, 300, 0, 0 } });
	assert_cause(run, CAUSE_PIPE);
}

static void a_pipeline_with_one_busy_end_is_cpu_bound(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .comm = "gzip", .on_cpu = 1950, .kernel = 100, .moves = 12000,
	       .bytes = 12000 * 50000ULL, .waits = { { WAIT_PIPE, 20, 100, 0 } });
	THREAD(.pid = 11, .comm = "wc", .on_cpu = 150, .kernel = 60, .moves = 6000,
	       .bytes = 6000 * 50000ULL, .waits = { { WAIT_PIPE, 1840, 6000, 0 } });
	assert_cause(run, CAUSE_CPU);
}

static void the_busy_end_of_a_long_pipeline_is_what_limits_it(void **state)
{
	RUN(2670);

	(void)state;
	THREAD(.pid = 10, .comm = "head", .on_cpu = 400, .kernel = 390, .moves = 15000,
	       .bytes = 15000 * 8192ULL, .waits = { { WAIT_PIPE, 2200, 1200, 0 } });
	THREAD(.pid = 11, .comm = "gzip", .on_cpu = 2060, .kernel = 60, .run_queue = 600,
	       .moves = 4000, .bytes = 4000 * 32768ULL);
	THREAD(.pid = 12, .comm = "wc", .on_cpu = 40, .kernel = 30, .moves = 2000,
	       .bytes = 2000 * 32768ULL, .waits = { { WAIT_PIPE, 2600, 2000, 0 } });
	assert_cause(run, CAUSE_CPU);
}

static void a_filter_of_a_slow_stranger_is_held_up_by_its_pipe(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 700, .kernel = 100, .moves = 2000, .bytes = 2000 * 65536ULL,
	       .waits = { { WAIT_PIPE, 1290, 1900, 0 } });
	assert_cause(run, CAUSE_PIPE);
}

static void a_loop_on_a_busy_machine_is_still_cpu_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 550, .kernel = 5, .run_queue = 950);
	assert_cause(run, CAUSE_CPU);
}

static void three_loops_on_one_of_two_cpus_are_starved(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 3; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 500, .run_queue = 1000);
	assert_cause(run, CAUSE_RUN_QUEUE);
}

static void a_loop_that_gets_a_fifth_of_a_cpu_is_starved(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 300, .kernel = 5, .run_queue = 1200);
	assert_cause(run, CAUSE_RUN_QUEUE);
}

static void tiny_reads_on_a_busy_machine_are_still_tiny(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 650, .kernel = 480, .run_queue = 850, .moves = 1100000,
	       .bytes = 1100000, .calls = { { "read", 1100000, 600, 0, 0 } });
	assert_cause(run, CAUSE_TINY_IO);
}

static void a_client_of_a_slow_server_is_network_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 10, .kernel = 8, .waits = { { WAIT_NETWORK, 1488, 73, 0 } },
	       .moves = 146, .bytes = 146,
	       .calls = { { "read", 73, 1490, 0, 0 }, { "connect", 1, 0.1, 0, 0 } });
	assert_cause(run, CAUSE_NETWORK);
}

static void a_client_is_network_bound_also_with_its_server_in_the_tree(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 10, .waits = { { WAIT_NETWORK, 1488, 73, 0 } });
	THREAD(.pid = 11, .on_cpu = 10,
	       .waits = { { WAIT_TIMER, 1470, 73, 0 }, { WAIT_NETWORK, 20, 73, 0 } });
	assert_cause(run, CAUSE_NETWORK);
}

static void a_client_that_polls_for_its_answers_is_network_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 30, .waits = { { WAIT_POLL, 1465, 70, 0 } },
	       .calls = { { "poll", 70, 1466, 0, 0 },
			  { "recvfrom", 140, 1, 0, 0 },
			  { "sendto", 70, 1, 0, 0 },
			  { "connect", 1, 0.2, 0, 0 } });
	assert_cause(run, CAUSE_NETWORK);
}

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

static void a_quota_starves(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1499, 2, 0 } });
	for (int i = 1; i <= 2; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 225, .run_queue = 1275);
	run->surroundings.cgroup_throttled_ns = (struct run_number){ true, 2500 * MS };
	run->surroundings.cgroup_periods = (struct run_number){ true, 15 };
	run->surroundings.cgroup_throttled_periods = (struct run_number){ true, 15 };
	run->surroundings.cgroup_quota_us = (struct run_number){ true, 30000 };
	run->surroundings.cgroup_period_us = (struct run_number){ true, 100000 };
	assert_cause(run, CAUSE_CPU_QUOTA);
}

static void a_quota_that_is_used_up_in_each_period_starves(void **state)
{
	RUN(1500);

	(void)state;
	for (int i = 0; i < 2; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 232, .run_queue = 1260);
	run->surroundings.cgroup_throttled_ns = (struct run_number){ true, 327 * MS };
	run->surroundings.cgroup_periods = (struct run_number){ true, 15 };
	run->surroundings.cgroup_throttled_periods = (struct run_number){ true, 15 };
	run->surroundings.cgroup_quota_us = (struct run_number){ true, 30000 };
	run->surroundings.cgroup_period_us = (struct run_number){ true, 100000 };
	assert_cause(run, CAUSE_CPU_QUOTA);
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

static void an_oom_kill_outweighs_everything(void **state)
{
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 100, .kernel = 80, .faults = 16000,
	       .waits = { { WAIT_TIMER, 300, 64, 0 } });
	run->tree->oom_kills = 1;
	assert_cause(run, CAUSE_OOM_KILL);
}

static void a_kill_in_the_cgroup_is_ours_when_one_of_ours_was_killed(void **state)
{
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 390);
	hand_end_process(run, 10, SIGKILL);
	run->surroundings.cgroup_oom_kills = (struct run_number){ true, 1 };
	assert_cause(run, CAUSE_OOM_KILL);
}

static void a_kill_of_a_stranger_in_the_cgroup_is_not_ours(void **state)
{
	RUN(400);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 390);
	hand_end_process(run, 10, 0);
	run->surroundings.cgroup_oom_kills = (struct run_number){ true, 1 };
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

static void a_full_table_does_no_harm_where_no_call_failed(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 60, .lives = true, .waits = { { WAIT_TIMER, 1430, 1300, 0 } },
	       .calls = { { "nanosleep", 1300, 1430, 0, 0 } });
	add_descriptors(run, 10, 256, 256);
	assert_cause(run, CAUSE_SLEEP);
}

static void a_sleeper_is_idle_whatever_strangers_in_its_cgroup_suffer(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 3, .kernel = 1, .waits = { { WAIT_TIMER, 1496, 15, 0 } });
	run->surroundings.cgroup_throttled_ns = (struct run_number){ true, 2500 * MS };
	run->surroundings.cgroup_periods = (struct run_number){ true, 15 };
	run->surroundings.cgroup_throttled_periods = (struct run_number){ true, 15 };
	run->surroundings.cgroup_quota_us = (struct run_number){ true, 30000 };
	run->surroundings.cgroup_period_us = (struct run_number){ true, 100000 };
	run->surroundings.cgroup_memory_max_hits = (struct run_number){ true, 600 };
	run->surroundings.cgroup_memory_some_us = (struct run_number){ true, 1200000 };
	assert_cause(run, CAUSE_SLEEP);
}

static void reads_past_the_page_cache_are_held_up_by_the_disk(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 350, .kernel = 300, .run_queue = 20, .moves = 9000,
	       .bytes = 9000 * 65536ULL, .waits = { { WAIT_DISK, 1120, 9000, 0 } },
	       .calls = { { "pread64", 9000, 1430, 0, 0 }, { "fsync", 1, 15, 0, 0 } });
	assert_cause(run, CAUSE_DISK);
}

static void a_fast_disk_whose_transfers_cost_cpu_time_is_still_the_disk(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 940, .kernel = 880, .run_queue = 40, .moves = 4800,
	       .bytes = 4800 * 65536ULL, .waits = { { WAIT_DISK, 530, 4500, 0 } },
	       .calls = { { "pread64", 4500, 1400, 0, 0 },
			  { "write", 256, 15, 0, 0 },
			  { "fsync", 1, 15, 0, 0 } });
	assert_cause(run, CAUSE_DISK);
}

static void a_disk_that_answers_before_a_thread_can_block_is_still_the_disk(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1290, .kernel = 1280, .run_queue = 50, .moves = 15500,
	       .bytes = 15500 * 65536ULL, .waits = { { WAIT_DISK, 160, 790, 0 } },
	       .calls = { { "pread64", 15200, 1415, 0, 0 },
			  { "write", 257, 6, 0, 0 },
			  { "fsync", 1, 12, 0, 0 } });
	usage_set(&run->tree->usage, USAGE_READ_BYTES, 15200 * 65536ULL);
	assert_cause(run, CAUSE_DISK);
}

static void stalls_above_memory_high_are_a_memory_limit(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 400, .kernel = 350, .faults = 30000,
	       .waits = { { WAIT_MEMORY, 1050, 300, 0 } });
	run->surroundings.cgroup_memory_high_hits = (struct run_number){ true, 600 };
	run->surroundings.cgroup_memory_some_us = (struct run_number){ true, 1200000 };
	assert_cause(run, CAUSE_MEMORY_LIMIT);
}

static void a_program_that_mostly_sleeps_is_idle_though_it_computes_at_times(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 450, .waits = { { WAIT_TIMER, 1050, 100, 0 } });
	assert_cause(run, CAUSE_SLEEP);
}

static void a_stopped_process_is_idle_without_a_cause(void **state)
{
	struct verdict verdict;
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .waits = { { WAIT_STOPPED, 1999, 1, 0 } });
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_int_equal(verdict.class, CLASS_IDLE);
	check_form(&verdict);
}

static void without_a_ledger_a_loop_is_still_cpu_bound_with_less_confidence(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1450, .kernel = 10, .no_ledger = true);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_CPU);
	assert_true(verdict.confidence < 0.7);
	check_form(&verdict);
}

static void without_a_ledger_what_was_waited_for_is_unknown(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 50, .kernel = 10, .no_ledger = true);
	assert_cause(run, CAUSE_NONE);
}

static void without_a_ledger_stalls_on_io_speak_for_the_disk(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 150, .kernel = 100, .no_ledger = true);
	usage_set(&run->tree->usage, USAGE_READ_BYTES, 400 << 20);
	run->surroundings.cgroup_io_some_us = (struct run_number){ true, 1200000 };
	assert_cause(run, CAUSE_DISK);
}

static void a_millisecond_is_not_enough(void **state)
{
	struct verdict verdict;
	RUN(1);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_int_equal(verdict.class, CLASS_UNKNOWN);
	assert_non_null(strstr(verdict.evidence[0], "insufficient data"));
}

static void an_empty_run_is_unknown(void **state)
{
	struct verdict verdict;
	RUN(0);

	(void)state;
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_int_equal(verdict.class, CLASS_UNKNOWN);
}

static void cpu_time_of_children_that_nobody_saw_is_computing(void **state)
{
	struct verdict verdict;
	struct tree_event event;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .comm = "sh", .on_cpu = 60, .kernel = 30, .lives = true,
	       .no_ledger = true);
	run->tree->ledger.present = LEDGER_WALL | LEDGER_ON_CPU | LEDGER_RUN_QUEUE;
	run->tree->ledger.on_cpu_ns = 60 * MS;
	event = hand_event(run, TREE_PROCESS, 10, 10);
	event.process.present = TREE_PROCESS_UNSEEN;
	event.process.unseen_cpu_ns = 900 * MS;
	hand_apply(run, &event);
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_CPU);
	assert_int_equal(verdict.evidence_count, 2);
	assert_non_null(strstr(verdict.evidence[1], "waits were not measured, which were 36 %"));
	check_form(&verdict);
}

static void what_is_not_known_is_not_sure(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 2, .waits = { { WAIT_OTHER, 1498, 40, 0 } },
	       .calls = { { "ioctl", 40, 1498, 0, 0 } });
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NONE);
	assert_true(verdict.confidence <= 0.5);
	check_form(&verdict);
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

static void helpers_that_wait_for_input_beside_a_sleeper_do_not_decide(void **state)
{
	RUN(1000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1, .waits = { { WAIT_TIMER, 998, 1, 0 } });
	THREAD(.pid = 10, .tid = 11, .waits = { { WAIT_PIPE, 999, 1, 0 } });
	THREAD(.pid = 12, .comm = "cat", .on_cpu = 1, .waits = { { WAIT_PIPE, 998, 1, 0 } });
	assert_cause(run, CAUSE_SLEEP);
}

static void helpers_on_sockets_and_locks_beside_an_event_loop_do_not_decide(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 4, .waits = { { WAIT_POLL, 1995, 40, 0 } });
	THREAD(.pid = 10, .tid = 11, .waits = { { WAIT_NETWORK, 1999, 3, 0 } });
	THREAD(.pid = 10, .tid = 12, .waits = { { WAIT_LOCK, 1999, 1, 0 } });
	assert_cause(run, CAUSE_POLL);
}

static void a_download_in_a_few_long_reads_is_network_bound_but_not_surely(void **state)
{
	struct verdict verdict;
	RUN(3000);

	(void)state;
	THREAD(.pid = 10, .comm = "sh", .on_cpu = 2, .waits = { { WAIT_CHILD, 2998, 1, 0 } });
	THREAD(.pid = 11, .comm = "fetch", .on_cpu = 5, .waits = { { WAIT_NETWORK, 2990, 3, 0 } });
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NETWORK);
	assert_true(verdict.confidence < 0.7);
	check_form(&verdict);
}

static void a_download_is_network_bound_beside_a_thread_that_shows_its_progress(void **state)
{
	RUN(3000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 5, .waits = { { WAIT_NETWORK, 2990, 3, 0 } });
	THREAD(.pid = 10, .tid = 11, .on_cpu = 2, .waits = { { WAIT_TIMER, 2990, 30, 0 } });
	assert_cause(run, CAUSE_NETWORK);
}

static void a_client_of_a_server_that_sleeps_is_surely_network_bound(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 9, .comm = "sh", .waits = { { WAIT_CHILD, 1499, 1, 0 } });
	THREAD(.pid = 10, .on_cpu = 10, .waits = { { WAIT_NETWORK, 1488, 15, 0 } });
	THREAD(.pid = 11, .on_cpu = 10, .waits = { { WAIT_TIMER, 1480, 15, 0 } });
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_NETWORK);
	assert_true(verdict.confidence > 0.7);
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

static struct verdict judge_settled(const struct run *run)
{
	struct diagnosis diagnosis;

	diagnose(run, &diagnosis);
	check_form(&diagnosis.verdict);
	return diagnosis.verdict;
}

static void contend(struct run *run, double on_cpu, double asleep, uint64_t count)
{
	double waited = 1490 - on_cpu - asleep;

	THREAD(.pid = 10, .waits = { { WAIT_CHILD, 1500, 1, 0 } });
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = on_cpu, .run_queue = 10,
		       .waits = { { WAIT_CONDITION, waited, count, 8 },
				  { WAIT_TIMER, asleep, count, 0 } });
	hand_settle(run);
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
	verdict = judge_settled(run);
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
	assert_int_equal(judge_settled(run).cause, CAUSE_LOCK);
}

static void threads_that_sleep_under_one_read_write_lock_are_not_surely_idle(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	contend(run, 20, 350, 330);
	verdict = judge_settled(run);
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
	hand_settle(run);
	run->tree->top_wait_count = 0;
	for (int i = 1; i <= 4; i++)
		add_condition_wait(run, 10 + i, 1430, 500, 10);
	assert_int_equal(judge_settled(run).cause, CAUSE_CPU);
}

static void a_pool_that_keeps_all_cpus_busy_is_cpu_bound_though_its_threads_meet(void **state)
{
	RUN(1500);

	(void)state;
	run->surroundings.online_cpus = 4;
	contend(run, 1150, 0, 300);
	assert_int_equal(judge_settled(run).cause, CAUSE_CPU);
}

static void a_pool_that_mostly_waits_for_work_is_surely_idle(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 2, .waits = { { WAIT_POLL, 1497, 9, 0 } });
	for (int i = 1; i <= 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 1,
		       .waits = { { WAIT_CONDITION, 1498, 4, 0 } });
	verdict = judge(run);
	assert_int_equal(verdict.cause, CAUSE_POLL);
	assert_true(verdict.confidence > 0.8);
}

static void numbers_of_any_size_end_in_a_verdict(void **state)
{
	struct verdict verdict;
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490);
	memset(&run->tree->usage, 0xff, sizeof(run->tree->usage));
	memset(&run->tree->ledger, 0xff, sizeof(run->tree->ledger));
	memset(run->tree->syscalls.by_category, 0xff, sizeof(run->tree->syscalls.by_category));
	run->tree->forks = UINT64_MAX;
	run->surroundings.cgroup_throttled_ns = (struct run_number){ true, UINT64_MAX };
	run->surroundings.cgroup_memory_high_hits = (struct run_number){ true, UINT64_MAX };
	run->surroundings.cgroup_memory_some_us = (struct run_number){ true, UINT64_MAX };
	run->losses.threads = run->losses.untracked_tasks = UINT64_MAX;
	verdict = judge(run);
	assert_in_range(verdict.cause, 0, CAUSE_COUNT - 1);
	check_form(&verdict);
}

static bool says(const struct verdict *verdict, const char *sentence)
{
	for (size_t i = 0; i < verdict->evidence_count; i++)
		if (strcmp(verdict->evidence[i], sentence) == 0)
			return true;
	return false;
}

static void lost_threads_make_a_verdict_less_sure_and_are_named(void **state)
{
	static const char sentence[] = "some threads were lost: see losses";
	struct verdict before, after;
	RUN(1500);

	(void)state;
	for (int i = 0; i < 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 380,
		       .waits = { { WAIT_LOCK, 1080, 360, 0 } });
	before = judge(run);
	run->losses.untracked_tasks = 12;
	after = judge(run);
	assert_int_equal(after.cause, before.cause);
	assert_true(after.confidence < before.confidence * 0.8);
	assert_true(says(&after, sentence));
	assert_false(says(&before, sentence));
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
	struct diagnosis diagnosis;
	RUN(1500);

	(void)state;
	for (int i = 0; i < 4; i++)
		THREAD(.pid = 10, .tid = 10 + i, .on_cpu = 380,
		       .waits = { { WAIT_LOCK, 1080, 360, 0 } });
	hand_settle(run);
	wait.waker = (struct tree_waker){
		.waker_pid = 10, .waker_tid = 11, .waker_comm = "worker1", .total_ns = 540 * MS
	};
	run->tree->top_waits[0] = wait;
	run->tree->top_wait_count = 1;
	diagnose(run, &diagnosis);
	verdict = diagnosis.verdict;
	check_form(&verdict);
	assert_non_null(strstr(verdict.evidence[1], "ended by worker1 (11) in 50 %"));
	assert_null(strchr(verdict.evidence[1], '\n'));
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_loop_is_cpu_bound),
		TEST(a_loop_on_every_cpu_is_cpu_bound_also_when_its_threads_crowd),
		TEST(one_busy_thread_among_idle_ones_is_cpu_bound),
		TEST(workers_parked_on_a_lock_do_not_make_it_lock_bound),
		TEST(a_deadlock_is_lock_bound),
		TEST(a_build_that_waits_for_its_children_is_not_idle),
		TEST(a_convoy_on_one_mutex_is_lock_bound),
		TEST(a_convoy_whose_woken_threads_find_no_cpu_is_lock_bound),
		TEST(a_writer_that_syncs_each_block_is_held_up_by_fsync),
		TEST(fsync_is_named_also_where_it_never_waits),
		TEST(reads_of_single_bytes_are_tiny_io),
		TEST(tiny_io_is_named_without_system_calls_too),
		TEST(a_program_that_computes_and_reads_large_blocks_is_not_tiny_io),
		TEST(a_sleeper_is_idle),
		TEST(a_shell_that_waits_for_a_sleeper_is_idle),
		TEST(a_poll_loop_is_idle),
		TEST(a_server_in_accept_waits_for_work),
		TEST(a_ping_pong_over_pipes_is_held_up_by_pipes),
		TEST(a_ping_pong_on_a_busy_machine_is_held_up_by_pipes),
		TEST(a_ping_pong_on_one_cpu_is_held_up_by_pipes),
		TEST(a_pipeline_with_one_busy_end_is_cpu_bound),
		TEST(the_busy_end_of_a_long_pipeline_is_what_limits_it),
		TEST(a_filter_of_a_slow_stranger_is_held_up_by_its_pipe),
		TEST(a_loop_on_a_busy_machine_is_still_cpu_bound),
		TEST(three_loops_on_one_of_two_cpus_are_starved),
		TEST(a_loop_that_gets_a_fifth_of_a_cpu_is_starved),
		TEST(tiny_reads_on_a_busy_machine_are_still_tiny),
		TEST(a_client_of_a_slow_server_is_network_bound),
		TEST(a_client_is_network_bound_also_with_its_server_in_the_tree),
		TEST(a_client_that_polls_for_its_answers_is_network_bound),
		TEST(a_storm_of_page_faults_is_memory_bound),
		TEST(page_faults_are_named_without_system_calls_too),
		TEST(mappings_that_come_and_go_are_mmap_churn),
		TEST(a_storm_of_short_processes_is_a_fork_storm),
		TEST(a_quota_starves),
		TEST(a_quota_that_is_used_up_in_each_period_starves),
		TEST(six_loops_on_one_of_two_cpus_are_starved),
		TEST(an_oom_kill_outweighs_everything),
		TEST(a_kill_in_the_cgroup_is_ours_when_one_of_ours_was_killed),
		TEST(a_kill_of_a_stranger_in_the_cgroup_is_not_ours),
		TEST(calls_that_fail_for_want_of_descriptors_are_named),
		TEST(a_full_table_of_descriptors_is_named_where_calls_are_not_watched),
		TEST(a_full_table_does_no_harm_where_no_call_failed),
		TEST(a_sleeper_is_idle_whatever_strangers_in_its_cgroup_suffer),
		TEST(reads_past_the_page_cache_are_held_up_by_the_disk),
		TEST(a_fast_disk_whose_transfers_cost_cpu_time_is_still_the_disk),
		TEST(a_disk_that_answers_before_a_thread_can_block_is_still_the_disk),
		TEST(stalls_above_memory_high_are_a_memory_limit),
		TEST(a_program_that_mostly_sleeps_is_idle_though_it_computes_at_times),
		TEST(a_stopped_process_is_idle_without_a_cause),
		TEST(without_a_ledger_a_loop_is_still_cpu_bound_with_less_confidence),
		TEST(without_a_ledger_what_was_waited_for_is_unknown),
		TEST(without_a_ledger_stalls_on_io_speak_for_the_disk),
		TEST(a_millisecond_is_not_enough),
		TEST(an_empty_run_is_unknown),
		TEST(cpu_time_of_children_that_nobody_saw_is_computing),
		TEST(what_is_not_known_is_not_sure),
		TEST(a_storm_whose_children_queue_behind_each_other_is_a_fork_storm),
		TEST(short_processes_one_at_a_time_on_a_full_machine_are_starved),
		TEST(helpers_that_wait_for_input_beside_a_sleeper_do_not_decide),
		TEST(helpers_on_sockets_and_locks_beside_an_event_loop_do_not_decide),
		TEST(a_download_in_a_few_long_reads_is_network_bound_but_not_surely),
		TEST(a_download_is_network_bound_beside_a_thread_that_shows_its_progress),
		TEST(a_client_of_a_server_that_sleeps_is_surely_network_bound),
		TEST(threads_that_compute_under_one_read_write_lock_are_lock_bound),
		TEST(contention_is_seen_by_who_runs_where_wakers_are_not_known),
		TEST(threads_that_sleep_under_one_read_write_lock_are_not_surely_idle),
		TEST(consumers_that_a_busy_producer_wakes_do_not_make_it_lock_bound),
		TEST(a_pool_that_keeps_all_cpus_busy_is_cpu_bound_though_its_threads_meet),
		TEST(a_pool_that_mostly_waits_for_work_is_surely_idle),
		TEST(numbers_of_any_size_end_in_a_verdict),
		TEST(lost_threads_make_a_verdict_less_sure_and_are_named),
		TEST(the_longest_wait_and_who_ended_it_are_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
