/* SPDX-License-Identifier: MIT */
#include "hand_snapshot.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anomaly/host_figures.h"
#include "analyze/anomaly/scope_figures.h"
#include "model/record/process_totals.h"

struct pair {
	struct snapshot *before, *now;
	struct host_sample sample;
};

static struct snapshot *host_at(uint64_t seconds)
{
	struct snapshot *snapshot = hand_new();

	snapshot_set_fact_text(snapshot, FACT_boot_id, "boot");
	snapshot_set_fact_number(snapshot, FACT_monotonic_ns, seconds * UINT64_C(1000000000));
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns, seconds);
	snapshot_set_fact_number(snapshot, FACT_page_size, 4096);
	return snapshot;
}

static int make(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	pair->before = host_at(10);
	pair->now = host_at(20);
	*state = pair;
	return 0;
}

static int drop(void **state)
{
	struct pair *pair = *state;

	snapshot_free(pair->before);
	snapshot_free(pair->now);
	free(pair);
	return 0;
}

static void note(struct snapshot *snapshot, const char *name, uint64_t value)
{
	assert_int_equal(snapshot_note_number(snapshot, SHEET_HOST, name, value), 0);
}

static void note_both(const struct pair *pair, const char *name, uint64_t before, uint64_t now)
{
	note(pair->before, name, before);
	note(pair->now, name, now);
}

static void expect(struct pair *pair, enum host_value value, double expected)
{
	host_figures(pair->before, pair->now, &pair->sample);
	assert_true(host_sample_has(&pair->sample, value));
	if (fabs(pair->sample.values[value] - expected) > 1e-6)
		fail_msg("%s is %f, not %f", host_values[value].name, pair->sample.values[value],
			 expected);
}

static void expect_absent(struct pair *pair, enum host_value value)
{
	host_figures(pair->before, pair->now, &pair->sample);
	assert_false(host_sample_has(&pair->sample, value));
}

static void note_cpu(const struct pair *pair, uint64_t user, uint64_t idle)
{
	note_both(pair, "stat cpu user", 100, 100 + user);
	note_both(pair, "stat cpu nice", 5, 6);
	note_both(pair, "stat cpu system", 5, 7);
	note_both(pair, "stat cpu irq", 0, 1);
	note_both(pair, "stat cpu softirq", 0, 1);
	note_both(pair, "stat cpu iowait", 0, 10);
	note_both(pair, "stat cpu steal", 0, 5);
	note_both(pair, "stat cpu idle", 1000, 1000 + idle);
}

static void modes_are_shares_of_all_cpus(void **state)
{
	struct pair *pair = *state;

	note_cpu(pair, 40, 40);
	expect(pair, HOST_VALUE_cpu_busy_percent, 45);
	expect(pair, HOST_VALUE_cpu_user_percent, 41);
	expect(pair, HOST_VALUE_cpu_system_percent, 4);
	expect(pair, HOST_VALUE_cpu_iowait_percent, 10);
	expect(pair, HOST_VALUE_cpu_steal_percent, 5);
	note(pair->now, "stat cpu idle", 999);
	expect_absent(pair, HOST_VALUE_cpu_busy_percent);
}

static void counters_become_rates(void **state)
{
	struct pair *pair = *state;

	note_both(pair, "stat ctxt", 100, 1100);
	note_both(pair, "stat processes", 10, 30);
	note_both(pair, "vmstat pswpin", 0, 10);
	expect(pair, HOST_VALUE_context_switches_per_second, 100);
	expect(pair, HOST_VALUE_forks_per_second, 2);
	expect(pair, HOST_VALUE_swap_in_bytes_per_second, 4096);
	expect_absent(pair, HOST_VALUE_interrupts_per_second);
	note(pair->now, "stat ctxt", 99);
	expect_absent(pair, HOST_VALUE_context_switches_per_second);
}

static void rates_need_a_tick_before_of_the_same_boot(void **state)
{
	struct pair *pair = *state;

	note_both(pair, "stat ctxt", 100, 1100);
	host_figures(NULL, pair->now, &pair->sample);
	assert_false(host_sample_has(&pair->sample, HOST_VALUE_context_switches_per_second));
	snapshot_set_fact_text(pair->now, FACT_boot_id, "other");
	expect_absent(pair, HOST_VALUE_context_switches_per_second);
	snapshot_set_fact_text(pair->now, FACT_boot_id, "boot");
	snapshot_set_fact_number(pair->now, FACT_monotonic_ns, 9);
	expect_absent(pair, HOST_VALUE_context_switches_per_second);
}

static void gauges_need_one_tick(void **state)
{
	struct pair *pair = *state;

	note(pair->now, "load 1min", 150);
	note(pair->now, "meminfo MemTotal", 1000);
	note(pair->now, "meminfo MemAvailable", 400);
	note(pair->now, "meminfo SwapTotal", 50);
	note(pair->now, "meminfo SwapFree", 30);
	note(pair->now, "pressure io full avg10", 1234);
	host_figures(NULL, pair->now, &pair->sample);
	assert_int_equal(pair->sample.unix_ns, 20);
	expect(pair, HOST_VALUE_load1, 1.5);
	expect(pair, HOST_VALUE_memory_used_bytes, 600);
	expect(pair, HOST_VALUE_swap_used_bytes, 20);
	expect(pair, HOST_VALUE_pressure_io_full_percent, 12.34);
	expect_absent(pair, HOST_VALUE_recorder_rss_bytes);
}

static void devices_are_added_up_once(void **state)
{
	struct pair *pair = *state;

	note_both(pair, "diskstats sda read_bytes", 0, 100);
	note_both(pair, "diskstats nvme0n1 read_bytes", 50, 150);
	note_both(pair, "diskstats dm-0 read_bytes", 0, 5000);
	note(pair->now, "diskstats sdb read_bytes", 70000);
	note_both(pair, "diskstats sdc read_bytes", 100, 3);
	note_both(pair, "diskstats sda busy_ns", 0, 2000000000);
	note_both(pair, "diskstats nvme0n1 busy_ns", 0, 9000000000);
	note_both(pair, "net/dev lo rx_bytes", 0, 5000);
	note_both(pair, "net/dev eth0 rx_bytes", 0, 20);
	note_both(pair, "net/dev lomax rx_bytes", 0, 10);
	expect(pair, HOST_VALUE_disk_read_bytes_per_second, 20);
	expect(pair, HOST_VALUE_disk_busy_percent, 90);
	expect(pair, HOST_VALUE_net_rx_bytes_per_second, 3);
	expect_absent(pair, HOST_VALUE_disk_write_bytes_per_second);
	expect_absent(pair, HOST_VALUE_net_tx_bytes_per_second);
}

static void note_cgroup(struct snapshot *snapshot, const char *path, uint64_t limit,
			uint64_t current)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	uint32_t row;

	assert_int_equal(sheet_add_row(sheet, hand_text(snapshot, path), &row), 0);
	if (limit)
		sheet_set(sheet, row, "memory.max", CELL_NUMBER, limit);
	else
		sheet_set(sheet, row, "memory.max", CELL_UNLIMITED, 0);
	sheet_set(sheet, row, "memory.current", CELL_NUMBER, current);
	sheet_set(sheet, row, "memory.stat inactive_file", CELL_NUMBER, 10);
}

static void a_recorded_cgroup_has_its_own_limit(void **state)
{
	struct pair *pair = *state;

	note(pair->now, "meminfo MemTotal", 1000);
	note(pair->now, "meminfo MemAvailable", 900);
	note_cgroup(pair->now, "/a", 100, 70);
	note_cgroup(pair->now, "/b", 0, 70);
	expect_absent(pair, HOST_VALUE_scope_memory_bytes);
	assert_string_equal(pair->sample.scope, "");
	snapshot_set_fact_text(pair->now, FACT_filter, "cgroup /a/");
	expect(pair, HOST_VALUE_scope_memory_limit_bytes, 100);
	expect(pair, HOST_VALUE_scope_memory_available_bytes, 40);
	expect(pair, HOST_VALUE_scope_memory_bytes, 70);
	expect(pair, HOST_VALUE_memory_total_bytes, 1000);
	expect(pair, HOST_VALUE_memory_available_bytes, 900);
	assert_string_equal(pair->sample.scope, "cgroup /a/");
	snapshot_set_fact_text(pair->now, FACT_filter, "pid 1, cgroup /b");
	expect_absent(pair, HOST_VALUE_scope_memory_limit_bytes);
	expect_absent(pair, HOST_VALUE_scope_memory_available_bytes);
	snapshot_set_fact_text(pair->now, FACT_filter, "cgroup /c");
	expect_absent(pair, HOST_VALUE_scope_memory_bytes);
	/* The limit above holds as well, and the host has no more than it has. */
	snapshot_set_fact_text(pair->now, FACT_filter, "cgroup /a/below");
	note(pair->now, "meminfo MemAvailable", 30);
	expect(pair, HOST_VALUE_scope_memory_limit_bytes, 100);
	expect(pair, HOST_VALUE_scope_memory_available_bytes, 30);
}

static void note_in_cgroup(struct snapshot *snapshot, const char *name, uint64_t value)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	uint32_t row;

	assert_int_equal(sheet_add_row(sheet, hand_text(snapshot, "/a"), &row), 0);
	sheet_set(sheet, row, name, CELL_NUMBER, value);
}

static void figures_of_a_cgroup_are_told_from_those_of_the_host(void **state)
{
	struct pair *pair = *state;

	note_cpu(pair, 40, 40);
	note(pair->now, "pressure memory some avg10", 0);
	note(pair->now, "pressure io full avg10", 100);
	note_in_cgroup(pair->before, "cpu.stat usage_usec", 1000000);
	note_in_cgroup(pair->now, "cpu.stat usage_usec", 3500000);
	snapshot_set_fact_text(pair->now, FACT_filter, "cgroup /a");
	expect(pair, HOST_VALUE_scope_cpu_percent, 25); /* 2.5 of 10 s */
	expect(pair, HOST_VALUE_cpu_busy_percent, 45);
	assert_int_equal(pair->sample.scope_pressure_level, PRESSURE_UNKNOWN);
}

static void pressure_of_a_cgroup_is_its_own(void **state)
{
	struct pair *pair = *state;

	note(pair->now, "pressure memory some avg10", 0);
	note_in_cgroup(pair->now, "memory.pressure some avg10", 2000);
	snapshot_set_fact_text(pair->now, FACT_filter, "cgroup /a");
	expect(pair, HOST_VALUE_scope_pressure_memory_some_percent, 20);
	expect(pair, HOST_VALUE_pressure_memory_some_percent, 0);
	assert_int_equal(pair->sample.pressure_level, PRESSURE_NONE);
	assert_int_equal(pair->sample.scope_pressure_level, PRESSURE_HIGH);
}

static struct process_total total_of(uint64_t value)
{
	return (struct process_total){ .is_known = true, .value = value };
}

static void cpu_of_a_tree_is_that_of_its_processes(void **state)
{
	struct pair *pair = *state;
	const struct process_total before = total_of(1000000000), now = total_of(3000000000);
	const struct scope_work work = { pair->before, pair->now, &before, &now, 1000000000 };

	hand_task(pair->before, 5, 5, "a", "/");
	hand_task(pair->now, 5, 5, "a", "/");
	assert_int_equal(snapshot_finish(pair->before), 0);
	assert_int_equal(snapshot_finish(pair->now), 0);
	expect_absent(pair, HOST_VALUE_scope_threads);
	scope_cpu_figure(&work, &pair->sample);
	assert_false(host_sample_has(&pair->sample, HOST_VALUE_scope_cpu_percent));
	snapshot_set_fact_text(pair->now, FACT_filter, "tree of 5");
	expect(pair, HOST_VALUE_scope_threads, 1);
	expect_absent(pair, HOST_VALUE_threads);
	expect_absent(pair, HOST_VALUE_scope_cpu_percent);
	scope_cpu_figure(&work, &pair->sample);
	/* 2 s of one that lives, and 1 s of some that ended, in 10 s. */
	assert_true(fabs(pair->sample.values[HOST_VALUE_scope_cpu_percent] - 30) < 1e-6);
}

static void tasks_are_counted_by_state_and_zombies_named(void **state)
{
	struct pair *pair = *state;

	host_figures(NULL, pair->now, &pair->sample);
	assert_true(
		host_sample_has(&pair->sample, HOST_VALUE_zombies)); /* of nothing there is none */
	hand_set(pair->now, METRIC_state, hand_task(pair->now, 5, 5, "a", "/"), 'R');
	hand_set(pair->now, METRIC_state, hand_task(pair->now, 5, 6, "a", "/"), 'D');
	hand_set(pair->now, METRIC_state, hand_task(pair->now, 7, 7, "b", "/"), 'Z');
	/* Its leader has ended, a thread lives. */
	hand_set(pair->now, METRIC_state, hand_task(pair->now, 8, 8, "c", "/"), 'Z');
	hand_set(pair->now, METRIC_state, hand_task(pair->now, 8, 9, "c", "/"), 'S');
	assert_int_equal(snapshot_finish(pair->now), 0);
	expect(pair, HOST_VALUE_processes, 3);
	expect(pair, HOST_VALUE_threads, 5);
	expect(pair, HOST_VALUE_running_threads, 1);
	expect(pair, HOST_VALUE_blocked_threads, 1);
	expect(pair, HOST_VALUE_zombies, 1);
	assert_int_equal(pair->sample.zombie_pid_count, 1);
	assert_int_equal(pair->sample.zombie_pids[0], 7);
}

static void states_that_were_not_read_are_absent(void **state)
{
	struct pair *pair = *state;

	hand_task(pair->now, 5, 5, "a", "/");
	assert_int_equal(snapshot_finish(pair->now), 0);
	expect_absent(pair, HOST_VALUE_zombies);
	expect_absent(pair, HOST_VALUE_blocked_threads);
}

static enum pressure_level level(uint64_t some, uint64_t full, uint64_t available)
{
	struct snapshot *now = host_at(1);
	struct host_sample sample;

	note(now, "pressure memory some avg10", some);
	note(now, "pressure memory full avg10", full);
	note(now, "meminfo MemTotal", 10000);
	note(now, "meminfo MemAvailable", available);
	host_figures(NULL, now, &sample);
	snapshot_free(now);
	return sample.pressure_level;
}

static void pressure_has_levels(void **state)
{
	struct pair *pair = *state;

	host_figures(NULL, pair->now, &pair->sample);
	assert_int_equal(pair->sample.pressure_level, PRESSURE_UNKNOWN);
	assert_int_equal(level(99, 0, 3000), PRESSURE_NONE);
	assert_int_equal(level(100, 0, 9000), PRESSURE_LOW);
	assert_int_equal(level(499, 0, 9000), PRESSURE_LOW);
	assert_int_equal(level(500, 0, 9000), PRESSURE_MEDIUM);
	assert_int_equal(level(2000, 1999, 9000), PRESSURE_HIGH);
	assert_int_equal(level(2000, 2000, 9000), PRESSURE_CRITICAL);
	assert_int_equal(level(0, 0, 2999), PRESSURE_LOW);
	assert_int_equal(level(0, 0, 2000), PRESSURE_LOW);
	assert_int_equal(level(0, 0, 1999), PRESSURE_MEDIUM);
	assert_int_equal(level(0, 0, 999), PRESSURE_HIGH);
	assert_int_equal(level(0, 0, 499), PRESSURE_CRITICAL);
}

#define PAIR_TEST(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PAIR_TEST(modes_are_shares_of_all_cpus),
		PAIR_TEST(counters_become_rates),
		PAIR_TEST(rates_need_a_tick_before_of_the_same_boot),
		PAIR_TEST(gauges_need_one_tick),
		PAIR_TEST(devices_are_added_up_once),
		PAIR_TEST(a_recorded_cgroup_has_its_own_limit),
		PAIR_TEST(figures_of_a_cgroup_are_told_from_those_of_the_host),
		PAIR_TEST(pressure_of_a_cgroup_is_its_own),
		PAIR_TEST(cpu_of_a_tree_is_that_of_its_processes),
		PAIR_TEST(tasks_are_counted_by_state_and_zombies_named),
		PAIR_TEST(states_that_were_not_read_are_absent),
		PAIR_TEST(pressure_has_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
