/* SPDX-License-Identifier: MIT */
/* Files, disks, pipes and sockets. */
#include "verdict_scene.h"

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

static void tiny_reads_on_a_busy_machine_are_still_tiny(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 760, .kernel = 560, .run_queue = 740, .moves = 1100000,
	       .bytes = 1100000, .calls = { { "read", 1100000, 600, 0, 0 } });
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
	amounts_set(&run->tree->amounts, AMOUNT_read_bytes, 15200 * 65536ULL);
	assert_cause(run, CAUSE_DISK);
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

static void a_filter_of_a_slow_stranger_is_held_up_by_its_pipe(void **state)
{
	RUN(2000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 700, .kernel = 100, .moves = 2000, .bytes = 2000 * 65536ULL,
	       .waits = { { WAIT_PIPE, 1290, 1900, 0 } });
	assert_cause(run, CAUSE_PIPE);
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

static void a_client_of_a_server_that_sleeps_is_network_bound(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 9, .comm = "sh", .waits = { { WAIT_CHILD, 1499, 1, 0 } });
	THREAD(.pid = 10, .on_cpu = 10, .waits = { { WAIT_NETWORK, 1488, 15, 0 } });
	THREAD(.pid = 11, .on_cpu = 10, .waits = { { WAIT_TIMER, 1480, 15, 0 } });
	assert_cause(run, CAUSE_NETWORK);
}

/* A read of the page cache that read-ahead had filled costs no disk. */
static void small_reads_of_what_read_ahead_had_read_are_tiny_io(void **state)
{
	RUN(800);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 790, .kernel = 600, .moves = 2000000, .bytes = 8000000 * 2ULL,
	       .waits = { { WAIT_DISK, 1, 2, 0 } },
	       .calls = { { "read", 1000000, 300, 0, 0 }, { "write", 1000000, 150, 0, 0 } });
	amounts_set(&run->tree->amounts, AMOUNT_read_bytes, 8000000);
	assert_cause(run, CAUSE_TINY_IO);
}

static void reads_that_are_handed_in_and_collected_are_disk_work(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 850, .kernel = 800, .waits = { { WAIT_DISK, 640, 9000, 0 } },
	       .calls = { { "io_submit", 9000, 500, 0, 0 }, { "io_getevents", 9000, 900, 0, 0 } });
	assert_cause(run, CAUSE_DISK);
}

static void syncs_of_a_file_in_memory_are_not_what_takes_the_time(void **state)
{
	RUN(1500);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 1490, .kernel = 10, .moves = 1400, .bytes = 1400 * 4096ULL,
	       .calls = { { "fsync", 1400, 0.5, 0, 0 }, { "pwrite64", 1400, 2, 0, 0 } });
	assert_cause(run, CAUSE_CPU);
}

static void a_download_is_network_bound_beside_a_thread_that_shows_its_progress(void **state)
{
	RUN(3000);

	(void)state;
	THREAD(.pid = 10, .on_cpu = 5, .waits = { { WAIT_NETWORK, 2990, 3, 0 } });
	THREAD(.pid = 10, .tid = 11, .on_cpu = 2, .waits = { { WAIT_TIMER, 2990, 30, 0 } });
	assert_cause(run, CAUSE_NETWORK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_writer_that_syncs_each_block_is_held_up_by_fsync),
		cmocka_unit_test(fsync_is_named_also_where_it_never_waits),
		cmocka_unit_test(reads_of_single_bytes_are_tiny_io),
		cmocka_unit_test(tiny_io_is_named_without_system_calls_too),
		cmocka_unit_test(tiny_reads_on_a_busy_machine_are_still_tiny),
		cmocka_unit_test(a_program_that_computes_and_reads_large_blocks_is_not_tiny_io),
		cmocka_unit_test(reads_past_the_page_cache_are_held_up_by_the_disk),
		cmocka_unit_test(a_fast_disk_whose_transfers_cost_cpu_time_is_still_the_disk),
		cmocka_unit_test(a_disk_that_answers_before_a_thread_can_block_is_still_the_disk),
		cmocka_unit_test(a_ping_pong_over_pipes_is_held_up_by_pipes),
		cmocka_unit_test(a_pipeline_with_one_busy_end_is_cpu_bound),
		cmocka_unit_test(a_filter_of_a_slow_stranger_is_held_up_by_its_pipe),
		cmocka_unit_test(a_client_of_a_slow_server_is_network_bound),
		cmocka_unit_test(a_client_is_network_bound_also_with_its_server_in_the_tree),
		cmocka_unit_test(a_client_that_polls_for_its_answers_is_network_bound),
		cmocka_unit_test(a_client_of_a_server_that_sleeps_is_network_bound),
		cmocka_unit_test(small_reads_of_what_read_ahead_had_read_are_tiny_io),
		cmocka_unit_test(reads_that_are_handed_in_and_collected_are_disk_work),
		cmocka_unit_test(syncs_of_a_file_in_memory_are_not_what_takes_the_time),
		cmocka_unit_test(
			a_download_is_network_bound_beside_a_thread_that_shows_its_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
