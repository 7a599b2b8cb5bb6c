/* SPDX-License-Identifier: MIT */
/* Every rule of the digest: just below its floor it is silent, at its floor it speaks. */
#include "digest_scene.h"

/* One process whose counter grows by so much. */
static struct pair grown(enum metric_id id, uint64_t by)
{
	struct pair pair = pair_new();

	both(&pair, 10, 10, "server", id, 1000 * SECOND, 1000 * SECOND + by);
	return pair;
}

/* One process with a level before and after. */
static struct pair levels(enum metric_id id, uint64_t before, uint64_t after)
{
	struct pair pair = pair_new();
	bool of_process = metrics[id].scope == METRIC_OF_PROCESS;
	uint32_t old = hand_task(pair.before, 10, 10, "server", "/");
	uint32_t new = hand_task(pair.after, 10, 10, "server", "/");

	hand_set(pair.before, id, of_process ? process_row(pair.before, 10) : old, before);
	hand_set(pair.after, id, of_process ? process_row(pair.after, 10) : new, after);
	return pair;
}

/* The floors are for a second, and the interval has ten. */
static const struct {
	enum metric_id metric;
	uint64_t floor;
	const char *sentence;
} counters[] = {
	{ METRIC_run_time_ns, 500 * MS,
	  "server used 500 ms of CPU (1.2 % of the host), 100 % of all" },
	{ METRIC_wait_time_ns, 500 * MS,
	  "server waited 500 ms for a CPU (50.0 ms/s), 100 % of all" },
	{ METRIC_wait_lock_ns, 500 * MS,
	  "server waited 500 ms for locks (50.0 ms/s), 100 % of all" },
	{ METRIC_wait_disk_ns, 500 * MS,
	  "server waited 500 ms for a disk (50.0 ms/s), 100 % of all" },
	{ METRIC_blkio_delay_total_ns, 500 * MS,
	  "server waited 500 ms for a disk (50.0 ms/s), 100 % of all" },
	{ METRIC_wait_network_ns, 500 * MS,
	  "server waited 500 ms for the network (50.0 ms/s), 100 % of all" },
	{ METRIC_wait_pipe_ns, 500 * MS,
	  "server waited 500 ms for a pipe (50.0 ms/s), 100 % of all" },
	{ METRIC_wait_memory_ns, 500 * MS,
	  "server waited 500 ms for memory (50.0 ms/s), 100 % of all" },
	{ METRIC_swapin_delay_total_ns, 500 * MS,
	  "server waited 500 ms for swap (50.0 ms/s), 100 % of all" },
	{ METRIC_freepages_delay_total_ns, 500 * MS,
	  "server waited 500 ms for free memory (50.0 ms/s), 100 % of all" },
	{ METRIC_thrashing_delay_total_ns, 500 * MS,
	  "server waited 500 ms for memory that was evicted (50.0 ms/s), 100 % of all" },
	{ METRIC_compact_delay_total_ns, 500 * MS,
	  "server waited 500 ms for compaction (50.0 ms/s), 100 % of all" },
	{ METRIC_read_bytes, 40 * MIB,
	  "server read 40.0 MiB from disk (4.00 MiB/s), 100 % of all" },
	{ METRIC_write_bytes, 40 * MIB,
	  "server wrote 40.0 MiB to disk (4.00 MiB/s), 100 % of all" },
	{ METRIC_net_rx_bytes, 40 * MIB,
	  "server received 40.0 MiB from the network (4.00 MiB/s), 100 % of all" },
	{ METRIC_net_tx_bytes, 40 * MIB,
	  "server sent 40.0 MiB to the network (4.00 MiB/s), 100 % of all" },
	{ METRIC_majflt, 200, "server had 200 page faults from disk (20/s), 100 % of all" },
	{ METRIC_minflt, 100000, "server had 100 K page faults (10.0 K/s), 100 % of all" },
};

static void counters_speak_from_their_floor_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		assert_only(grown(counters[i].metric, counters[i].floor - 1), NOTHING);
		assert_only(grown(counters[i].metric, counters[i].floor), counters[i].sentence);
	}
}

static const struct {
	enum metric_id metric;
	uint64_t before, below, at;
	const char *sentence;
} changes[] = {
	{ METRIC_rss_bytes, MIB, 17 * MIB - 1, 17 * MIB,
	  "server grew 1.00 MiB → 17.0 MiB of memory (+0.2 % of the host), 100 % of all" },
	{ METRIC_swap_bytes, 0, 16 * MIB - 1, 16 * MIB,
	  "server grew 0 B → 16.0 MiB of swap (+0.2 % of the host), 100 % of all" },
	{ METRIC_thread_count, 30, 21, 20, "server shrank 30 → 20 threads, 100 % of all" },
	{ METRIC_open_fds, 20, 119, 120, "server grew 20 → 120 open files, 100 % of all" },
	/* A tenth of what it has is steady, however large. */
	{ METRIC_rss_bytes, 4000 * MIB, 4444 * MIB, 4445 * MIB,
	  "server grew 3.91 GiB → 4.34 GiB of memory (+5.4 % of the host), 100 % of all" },
};

static void levels_speak_from_their_floor_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		assert_only(levels(changes[i].metric, changes[i].before, changes[i].below),
			    NOTHING);
		assert_only(levels(changes[i].metric, changes[i].before, changes[i].at),
			    changes[i].sentence);
	}
}

static void memory_is_little_on_a_large_host(void **state)
{
	struct pair pair = levels(METRIC_rss_bytes, 0, 16 * MIB);

	(void)state;
	snapshot_set_fact_number(pair.after, FACT_total_memory_bytes, UINT64_C(64) << 30);
	snapshot_set_fact_number(pair.before, FACT_total_memory_bytes, UINT64_C(64) << 30);
	assert_only(pair, NOTHING);
}

static void the_heap_has_a_line_of_its_own(void **state)
{
	struct pair pair = pair_new();

	(void)state;
	both(&pair, 10, 10, "server", METRIC_allocated_bytes, 100 * MIB, 150 * MIB);
	dead(&pair, 10, METRIC_rss_bytes, MIB, MIB);
	hand_set(pair.before, METRIC_deallocated_bytes, 0, 90 * MIB);
	hand_set(pair.after, METRIC_deallocated_bytes, 0, 100 * MIB);
	assert_only(pair,
		    "server grew 10.0 MiB → 50.0 MiB of heap (+0.5 % of the host), 100 % of all");
}

static struct pair readings(enum sheet_id sheet, const char *name, uint64_t before, uint64_t after)
{
	struct pair pair = grown(METRIC_run_time_ns, 1);
	const char *key = sheet == SHEET_CGROUPS ? "/shop" : NULL;

	set_reading(pair.before, sheet, key, name, CELL_NUMBER, before);
	set_reading(pair.after, sheet, key, name, CELL_NUMBER, after);
	return pair;
}

static const struct {
	enum sheet_id sheet;
	const char *name;
	uint64_t below, at;
	const char *sentence;
} reached[] = {
	{ SHEET_CGROUPS, "memory.events oom_kill", 0, 1, "/shop had 1 OOM kill" },
	{ SHEET_CGROUPS, "memory.events.local oom_kill", 0, 1, "/shop had 1 OOM kill" },
	{ SHEET_HOST, "vmstat oom_kill", 0, 1, "host had 1 OOM kill" },
	{ SHEET_CGROUPS, "cpu.stat throttled_usec", 99999, 100000,
	  "/shop was throttled for 100 ms by its cpu.max (10.0 ms/s)" },
	{ SHEET_CGROUPS, "memory.events max", 0, 1, "/shop reached memory.max 1 time" },
	{ SHEET_CGROUPS, "memory.events.local max", 0, 1, "/shop reached memory.max 1 time" },
	{ SHEET_CGROUPS, "memory.events high", 0, 20, "/shop reached memory.high 20 times (2/s)" },
	{ SHEET_HOST, "diskstats vda busy_ns", 5 * SECOND - 1, 5 * SECOND,
	  "disk vda was 50.0 % busy" },
	{ SHEET_HOST, "net/dev eth0 rx_bytes", 40 * MIB - 1, 40 * MIB,
	  "interface eth0 received 40.0 MiB (4.00 MiB/s)" },
	{ SHEET_HOST, "net/dev eth0 tx_bytes", 40 * MIB - 1, 40 * MIB,
	  "interface eth0 sent 40.0 MiB (4.00 MiB/s)" },
	{ SHEET_HOST, "vmstat pswpin", 999, 1000, "host read 1.00 K pages from swap (100/s)" },
	{ SHEET_HOST, "vmstat pswpout", 999, 1000, "host wrote 1.00 K pages to swap (100/s)" },
	{ SHEET_HOST, "stat cpu steal", SECOND - 1, SECOND,
	  "host waited 1.00 s for CPUs that other guests had (100 ms/s)" },
};

static void what_was_reached_speaks_from_its_floor_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reached); i++) {
		assert_only(readings(reached[i].sheet, reached[i].name, 7, 7 + reached[i].below),
			    NOTHING);
		assert_only(readings(reached[i].sheet, reached[i].name, 7, 7 + reached[i].at),
			    reached[i].sentence);
	}
}

static void changed_limits_come_first(void **state)
{
	struct pair pair = grown(METRIC_run_time_ns, 5 * SECOND);
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	set_reading(pair.before, SHEET_CGROUPS, "/shop", "cpu.max quota_usec", CELL_UNLIMITED, 0);
	set_reading(pair.after, SHEET_CGROUPS, "/shop", "cpu.max quota_usec", CELL_NUMBER, 20000);
	set_reading(pair.before, SHEET_CGROUPS, "/shop", "memory.max", CELL_NUMBER, 64 * MIB);
	set_reading(pair.after, SHEET_CGROUPS, "/shop", "memory.max", CELL_NUMBER, 64 * MIB);
	snapshot_set_fact_text(pair.before, FACT_thp_enabled, "always");
	snapshot_set_fact_text(pair.after, FACT_thp_enabled, "never");
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, 3);
	assert_string_equal(digest.lines.data[0].sentence, "host: thp_enabled always → never");
	assert_string_equal(digest.lines.data[0].resource, "settings");
	assert_string_equal(digest.lines.data[1].sentence,
			    "/shop: cpu.max quota_usec max → 20.0 ms");
	assert_string_equal(digest.lines.data[1].group, "/shop");
	assert_string_equal(digest.lines.data[1].metric, "cpu.max quota_usec");
	assert_int_equal(digest.lines.data[1].section, COMPARE_LIMITS);
	assert_string_equal(digest.lines.data[2].resource, "cpu");
}

static void many_changed_settings_are_counted(void **state)
{
	static const enum fact_id ids[] = { FACT_thp_enabled, FACT_thp_defrag, FACT_smt,
					    FACT_cpu_model, FACT_cpu_vendor };
	struct pair pair = grown(METRIC_run_time_ns, 1);
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		snapshot_set_fact_text(pair.before, ids[i], "one");
		snapshot_set_fact_text(pair.after, ids[i], "two");
	}
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, 4);
	assert_string_equal(digest.lines.data[3].sentence, "2 more settings changed");
}

/* As the shares of the table are. */
static void what_taskscope_did_is_part_of_all(void **state)
{
	struct pair pair = grown(METRIC_run_time_ns, 5 * SECOND);

	(void)state;
	both(&pair, 20, 20, "taskscope", METRIC_run_time_ns, SECOND, 6 * SECOND);
	assert_only(pair, "server used 5.00 s of CPU (12 % of the host), 50 % of all");
}

/* A process that only one side has. */
static struct pair lone(bool is_new, uint64_t rss)
{
	struct pair pair = grown(METRIC_run_time_ns, 1);
	struct snapshot *of = is_new ? pair.after : pair.before;
	int32_t pid = is_new ? FIRST_BORN + 1 : 30;

	hand_set(of, METRIC_run_time_ns, hand_task(of, pid, pid, "visitor", "/"), 1);
	hand_set(of, METRIC_rss_bytes, process_row(of, pid), rss);
	return pair;
}

static void births_and_deaths_of_some_size_are_said(void **state)
{
	struct pair pair;

	(void)state;
	assert_only(lone(true, 16 * MIB - 1), NOTHING);
	assert_says(lone(true, 16 * MIB), "visitor is new");
	assert_only(lone(false, 16 * MIB - 1), NOTHING);
	assert_says(lone(false, 16 * MIB), "visitor is gone");
	pair = lone(true, 16 * MIB);
	hand_set(pair.after, METRIC_run_time_ns,
		 hand_task(pair.after, FIRST_BORN + 9, FIRST_BORN + 9, "guest", "/"), 2);
	hand_set(pair.after, METRIC_rss_bytes, process_row(pair.after, FIRST_BORN + 9), 16 * MIB);
	assert_says(pair, "guest and 1 other group are new");
}

/* The number of groups is no change of the row, which counts threads. */
static void births_have_no_delta_of_their_own(void **state)
{
	CLEANUP(digest_clear) struct digest digest = digest_of(lone(true, 16 * MIB));
	const struct digest_line *line = find_line(&digest, "visitor is new");

	(void)state;
	assert_non_null(line);
	assert_string_equal(line->metric, "thread_count");
	assert_false(line->has_delta);
}

/* A process that was restarted: both lived ten seconds; run and wait in ms of each second. */
static struct pair restarted(uint64_t run_before, uint64_t wait_before, uint64_t run_after,
			     uint64_t wait_after)
{
	struct pair pair = pair_new();
	uint32_t task = hand_task(pair.before, 9000, 9000, "shop", "/");

	hand_set(pair.before, METRIC_run_time_ns, task, run_before * 10 * MS);
	hand_set(pair.before, METRIC_wait_time_ns, task, wait_before * 10 * MS);
	task = hand_task(pair.after, FIRST_BORN, FIRST_BORN, "shop", "/");
	pair.after->tasks[task].start_time_ns = pair.after->processes[0].start_time_ns = BEFORE_NS;
	hand_set(pair.after, METRIC_run_time_ns, task, run_after * 10 * MS);
	hand_set(pair.after, METRIC_wait_time_ns, task, wait_after * 10 * MS);
	return pair;
}

static void a_restart_tells_whether_it_sleeps_more(void **state)
{
	CLEANUP(digest_clear) struct digest digest = digest_of(restarted(200, 50, 181, 50));

	(void)state;
	assert_string_equal(digest.lines.data[0].sentence,
			    "shop was restarted: CPU of a task 0.200 → 0.181 s/s");
	assert_says(restarted(200, 50, 180, 50),
		    "shop was restarted: it sleeps more, 75.0 % → 77.0 %, burns no more CPU");
	assert_says(restarted(200, 50, 180, 50), "`taskscope attach` tells why shop sleeps");
	/* It also burns a tenth more. */
	assert_says(restarted(200, 300, 221, 100),
		    "shop was restarted: CPU of a task 0.200 → 0.221 s/s");
	assert_says(restarted(200, 300, 220, 100),
		    "shop was restarted: it sleeps more, 50.0 % → 68.0 %, burns no more CPU");
}

static void what_hardly_runs_is_not_said_to_be_restarted(void **state)
{
	(void)state;
	assert_only(restarted(9, 0, 8, 0), NOTHING);
	assert_says(restarted(10, 0, 9, 0), "shop was restarted: CPU of a task 0.010 → 0.009 s/s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_speak_from_their_floor_on),
		cmocka_unit_test(levels_speak_from_their_floor_on),
		cmocka_unit_test(memory_is_little_on_a_large_host),
		cmocka_unit_test(the_heap_has_a_line_of_its_own),
		cmocka_unit_test(what_was_reached_speaks_from_its_floor_on),
		cmocka_unit_test(changed_limits_come_first),
		cmocka_unit_test(many_changed_settings_are_counted),
		cmocka_unit_test(what_taskscope_did_is_part_of_all),
		cmocka_unit_test(births_and_deaths_of_some_size_are_said),
		cmocka_unit_test(births_have_no_delta_of_their_own),
		cmocka_unit_test(a_restart_tells_whether_it_sleeps_more),
		cmocka_unit_test(what_hardly_runs_is_not_said_to_be_restarted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
