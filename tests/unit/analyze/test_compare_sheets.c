/* SPDX-License-Identifier: MIT */
/* Readings of two sides: what is added, what is not, and what is said of it. */
#include "hand_snapshot.h"

#include <stdlib.h>

#include "analyze/compare/rank/compare_rank.h"
#include "analyze/compare/rows/compare_rows.h"
#include "analyze/compare/compare_sections.h"
#include "analyze/compare/rows/compare_sheets.h"
#include "analyze/compare/comparison.h"

#define SECOND 1000000000ull

/* Two snapshots, or several runs a side, and what came of comparing them. */
static struct snapshot *runs[2][8];
static struct compare_side sides[2];
static struct compare_options options;
static struct comparison comparison;

#define earlier runs[0][0]
#define later runs[1][0]

static int set_up(void **state)
{
	(void)state;
	earlier = hand_new();
	later = hand_new();
	for (int side = 0; side < 2; side++)
		sides[side] =
			(struct compare_side){ (const struct snapshot *const *)runs[side], 1 };
	options = (struct compare_options){ .axis = AXIS_COMM,
					    .sections = ALL_COMPARE_SECTIONS,
					    .unchanged = true };
	comparison = (struct comparison){ .mode = COMPARE_INTERVAL, .elapsed_ns = 2 * SECOND };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].count; i++)
			snapshot_free(runs[side][i]);
	array_free(&comparison.groups);
	array_free(&comparison.rows);
	arena_clear(&comparison.arena);
	return 0;
}

static void compare_sides(const struct compare_side *before, const struct compare_side *after)
{
	struct rank_scale scale;
	struct row_keeper keeper;

	rank_scale_init(&scale, after->snapshots[0], comparison.elapsed_ns);
	row_keeper_init(&keeper, &comparison, &options);
	assert_int_equal(compare_sheets((struct compare_side[]){ *before, *after }, &options,
					&scale, &keeper, &comparison),
			 0);
	assert_int_equal(row_keeper_finish(&keeper), 0);
	row_keeper_clear(&keeper);
}

static void compare(void)
{
	comparison.rows.count = 0;
	comparison.groups.count = 0;
	compare_sides(&sides[0], &sides[1]);
}

/* The row of the path's cgroup, added when it is new. */
static uint32_t cgroup(struct snapshot *snapshot, const char *path)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	uint32_t id = hand_text(snapshot, path), row;

	for (row = 0; row < sheet->row_count; row++)
		if (sheet->keys[row] == id)
			return row;
	assert_int_equal(sheet_add_row(sheet, id, &row), 0);
	return row;
}

static void set(struct snapshot *snapshot, const char *path, const char *name, uint64_t value)
{
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], cgroup(snapshot, path), name,
				   CELL_NUMBER, value),
			 0);
}

static void set_unlimited(struct snapshot *snapshot, const char *path, const char *name)
{
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], cgroup(snapshot, path), name,
				   CELL_UNLIMITED, 0),
			 0);
}

static void set_text(struct snapshot *snapshot, const char *path, const char *name,
		     const char *text)
{
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], cgroup(snapshot, path), name,
				   CELL_TEXT, hand_text(snapshot, text)),
			 0);
}

static void host(struct snapshot *snapshot, const char *name, uint64_t value)
{
	assert_int_equal(snapshot_note_number(snapshot, SHEET_HOST, name, value), 0);
}

/* A process with one kind of memory; returns its row. */
static void smaps(struct snapshot *snapshot, int32_t tgid, const char *name, uint64_t pss)
{
	uint32_t task = hand_task(snapshot, tgid, tgid, name, "/"), row;

	assert_int_equal(snapshot_process_row(snapshot, snapshot->tasks[task].process, &row), 0);
	assert_int_equal(
		sheet_set(&snapshot->sheets[SHEET_PROCESSES], row, "smaps Pss", CELL_NUMBER, pss),
		0);
}

static const struct comparison_row *find(const char *key, const char *name)
{
	for (size_t i = 0; i < comparison.rows.count; i++) {
		const struct comparison_row *row = &comparison.rows.data[i];

		if (strcmp(comparison.groups.data[row->group].key, key) == 0 &&
		    strcmp(row->metric->name, name) == 0)
			return row;
	}
	return NULL;
}

static const struct comparison_row *row_of(const char *key, const char *name)
{
	const struct comparison_row *row = find(key, name);

	if (!row)
		fail_msg("there is no row %s of %s", name, key);
	return row;
}

static void assert_numbers(const struct comparison_row *row, uint64_t was, uint64_t is)
{
	assert_int_equal(row->before.shape, VALUE_NUMBER);
	assert_int_equal(row->after.shape, VALUE_NUMBER);
	assert_int_equal(row->before.number, was);
	assert_int_equal(row->after.number, is);
}

static void assert_delta(const struct comparison_row *row, int64_t delta)
{
	assert_true(row->delta.known);
	assert_int_equal(row->delta.is_negative, delta < 0);
	assert_int_equal(row->delta.magnitude, (uint64_t)llabs(delta));
}

static void counters_of_an_interval_are_differences_and_rates(void **state)
{
	const struct comparison_row *row;

	(void)state;
	set(earlier, "/a", "cpu.stat usage_usec", 1000);
	set(later, "/a", "cpu.stat usage_usec", 5000);
	compare();
	row = row_of("/a", "cpu.stat usage_usec");
	assert_int_equal(row->section, COMPARE_CGROUP);
	assert_true(metric_is_reading(row->metric));
	assert_int_equal(row->state, ROW_CHANGED);
	assert_numbers(row, 1000, 5000);
	assert_delta(row, 4000);
	assert_true(row->has_rate && row->per_second == 2000);
}

static void a_cgroup_that_contains_another_of_its_key_is_not_added_twice(void **state)
{
	static const char *const globs[] = { "/kube/**" };

	(void)state;
	options.grouping.flatten = globs;
	options.grouping.flatten_count = 1;
	for (int side = 0; side < 2; side++) {
		set(runs[side][0], "/kube/pod", "memory.current", 100);
		set(runs[side][0], "/kube/pod/one", "memory.current", 60);
		set(runs[side][0], "/kube/pod/one/deep", "memory.current", 50);
		set(runs[side][0], "/kube/two", "memory.current", 7);
		set(runs[side][0], "/kube/pod", "cpu.stat usage_usec", 100 + 10 * (uint64_t)side);
		set(runs[side][0], "/kube/pod/one", "cpu.stat usage_usec", 60 + 9 * (uint64_t)side);
	}
	compare();
	assert_numbers(row_of("/kube/**", "memory.current"), 107, 107);
	assert_int_equal(row_of("/kube/**", "memory.current")->state, ROW_SAME);
	assert_int_equal(row_of("/kube/**", "memory.current")->after.measured, 4);
	assert_numbers(row_of("/kube/**", "cpu.stat usage_usec"), 100, 110);
	assert_delta(row_of("/kube/**", "cpu.stat usage_usec"), 10);
}

static void a_value_that_the_parent_lacks_is_taken_from_the_children(void **state)
{
	static const char *const globs[] = { "/kube/**" };

	(void)state;
	options.grouping.flatten = globs;
	options.grouping.flatten_count = 1;
	for (int side = 0; side < 2; side++) {
		set(runs[side][0], "/kube/pod", "cpu.stat usage_usec", 1);
		set(runs[side][0], "/kube/pod/one", "memory.current", 60);
		set(runs[side][0], "/kube/pod/two", "memory.current", 40);
	}
	compare();
	assert_numbers(row_of("/kube/**", "memory.current"), 100, 100);
	assert_int_equal(row_of("/kube/**", "memory.current")->after.measured, 2);
	assert_int_equal(row_of("/kube/**", "memory.current")->after.population, 3);
}

static void events_of_the_cgroup_alone_are_added_though_one_contains_the_other(void **state)
{
	static const char *const globs[] = { "/kube/**" };

	(void)state;
	options.grouping.flatten = globs;
	options.grouping.flatten_count = 1;
	for (int side = 0; side < 2; side++) {
		set(runs[side][0], "/kube/pod", "memory.events.local oom", 1 + (uint64_t)side);
		set(runs[side][0], "/kube/pod/one", "memory.events.local oom", 5);
		set(runs[side][0], "/kube/pod", "memory.events oom", 6 + (uint64_t)side);
		set(runs[side][0], "/kube/pod/one", "memory.events oom", 5);
	}
	compare();
	assert_numbers(row_of("/kube/**", "memory.events.local oom"), 6, 7);
	assert_numbers(row_of("/kube/**", "memory.events oom"), 6, 7);
	assert_int_equal(row_of("/kube/**", "memory.events oom")->section, COMPARE_MEMORY_EVENTS);
}

static void siblings_of_one_pattern_are_one_group(void **state)
{
	const struct comparison_row *row;

	(void)state;
	set(earlier, "/job-1", "memory.current", 10);
	set(earlier, "/job-2", "memory.current", 20);
	set(later, "/job-2", "memory.current", 25);
	set(later, "/job-3", "memory.current", 30);
	set(earlier, "/job-1", "memory.peak", 100);
	set(earlier, "/job-2", "memory.peak", 200);
	set(later, "/job-2", "memory.peak", 300);
	compare();
	row = row_of("/job-{N}", "memory.current");
	assert_numbers(row, 30, 55);
	assert_delta(row, 25);
	assert_false(row->has_rate);
	assert_int_equal(row->before.population, 2);
	assert_numbers(row_of("/job-{N}", "memory.peak"), 200, 300);
}

static void cgroups_that_come_and_go_neither_add_their_past_nor_take_it_along(void **state)
{
	const struct comparison_row *row;

	(void)state;
	set(earlier, "/job-1", "cpu.stat usage_usec", 1000000);
	set(earlier, "/job-2", "cpu.stat usage_usec", 500);
	set(later, "/job-2", "cpu.stat usage_usec", 600);
	set(later, "/job-3", "cpu.stat usage_usec", 40);
	compare();
	row = row_of("/job-{N}", "cpu.stat usage_usec");
	assert_int_equal(row->state, ROW_CHANGED);
	assert_delta(row, 140);
	/* One of three has taken what it did at last with it. */
	assert_int_equal(row->after.measured, 2);
	assert_int_equal(row->after.population, 3);
}

static void new_gone_absent_zero_and_unlimited_are_all_different(void **state)
{
	(void)state;
	set(later, "/new", "memory.current", 5);
	set(earlier, "/gone", "memory.current", 7);
	set(earlier, "/half", "memory.current", 0);
	set(later, "/half", "pids.current", 0);
	set(earlier, "/half", "pids.current", 0);
	set(earlier, "/half", "memory.max", 0);
	set_unlimited(later, "/half", "memory.max");
	compare();
	assert_int_equal(row_of("/new", "memory.current")->state, ROW_NEW);
	assert_int_equal(row_of("/new", "memory.current")->before.shape, VALUE_ABSENT);
	assert_delta(row_of("/new", "memory.current"), 5);
	assert_int_equal(row_of("/gone", "memory.current")->state, ROW_GONE);
	assert_delta(row_of("/gone", "memory.current"), -7);
	assert_int_equal(row_of("/half", "memory.current")->state, ROW_ABSENT);
	assert_int_equal(row_of("/half", "memory.current")->before.shape, VALUE_NUMBER);
	assert_false(row_of("/half", "memory.current")->delta.known);
	assert_int_equal(row_of("/half", "pids.current")->state, ROW_SAME);
	assert_numbers(row_of("/half", "pids.current"), 0, 0);
	assert_int_equal(row_of("/half", "memory.max")->state, ROW_CHANGED);
	assert_int_equal(row_of("/half", "memory.max")->after.shape, VALUE_UNLIMITED);
	assert_false(row_of("/half", "memory.max")->delta.known);
	assert_null(find("/half", "cpu.stat usage_usec"));
}

static void a_limit_that_was_not_read_is_not_one_that_nobody_set(void **state)
{
	(void)state;
	set_unlimited(earlier, "/a", "memory.max");
	set(earlier, "/a", "memory.current", 1);
	set(later, "/a", "memory.current", 1);
	assert_int_equal(sheet_set_absent(&later->sheets[SHEET_CGROUPS], "memory.max",
					  "no memory controller"),
			 0);
	compare();
	assert_int_equal(row_of("/a", "memory.max")->section, COMPARE_LIMITS);
	assert_int_equal(row_of("/a", "memory.max")->before.shape, VALUE_UNLIMITED);
	assert_int_equal(row_of("/a", "memory.max")->after.shape, VALUE_ABSENT);
	assert_int_equal(row_of("/a", "memory.max")->state, ROW_ABSENT);
	assert_string_equal(row_of("/a", "memory.max")->reason, "no memory controller");
}

static void limits_are_not_added(void **state)
{
	const struct comparison_row *row;

	(void)state;
	for (int side = 0; side < 2; side++) {
		set(runs[side][0], "/job-1", "memory.max", 1 << 30);
		set(runs[side][0], "/job-2", "memory.max", 1 << 30);
		set(runs[side][0], "/job-1", "pids.max", 10);
		set(runs[side][0], "/job-2", "pids.max", 20);
		set(runs[side][0], "/job-1", "memory.high", 1 << 30);
		set_unlimited(runs[side][0], "/job-2", "memory.high");
	}
	set(later, "/job-2", "pids.max", 30);
	compare();
	assert_numbers(row_of("/job-{N}", "memory.max"), 1 << 30, 1 << 30);
	assert_int_equal(row_of("/job-{N}", "memory.max")->state, ROW_SAME);
	row = row_of("/job-{N}", "pids.max");
	assert_int_equal(row->state, ROW_CHANGED);
	assert_int_equal(row->before.shape, VALUE_RANGE);
	assert_int_equal(row->before.min, 10);
	assert_int_equal(row->before.max, 20);
	assert_int_equal(row->after.max, 30);
	row = row_of("/job-{N}", "memory.high");
	assert_int_equal(row->state, ROW_SAME);
	assert_string_equal(row->after.text, "1.00 GiB..max");
}

static void settings_may_be_below_zero(void **state)
{
	const struct comparison_row *row;

	(void)state;
	set(earlier, "/a", "cpu.weight.nice", (uint64_t)-5);
	set(later, "/a", "cpu.weight.nice", 3);
	compare();
	row = row_of("/a", "cpu.weight.nice");
	assert_true(row->before.is_signed);
	assert_delta(row, 8);
}

static void words_are_the_most_frequent_ones_and_change_with_the_rest(void **state)
{
	const struct comparison_row *row;

	(void)state;
	for (int side = 0; side < 2; side++) {
		set_text(runs[side][0], "/job-1", "cpuset.cpus", "0-3");
		set_text(runs[side][0], "/job-2", "cpuset.cpus", "0-3");
		set_text(runs[side][0], "/job-3", "cpuset.cpus", side ? "5" : "4");
		set_text(runs[side][0], "/job-1", "cpuset.mems", "0");
	}
	set_text(later, "/job-4", "cpuset.mems", "0");
	compare();
	row = row_of("/job-{N}", "cpuset.cpus");
	assert_int_equal(row->state, ROW_CHANGED);
	assert_string_equal(row->before.text, "0-3");
	assert_int_equal(row->before.number, 2);
	assert_int_equal(row->before.measured, 3);
	assert_false(row->delta.known);
	assert_int_equal(row_of("/job-{N}", "cpuset.mems")->state, ROW_SAME);
}

static void a_counter_that_fell_began_again(void **state)
{
	const struct comparison_row *row;

	(void)state;
	set(earlier, "/a", "cpu.stat usage_usec", 900);
	set(later, "/a", "cpu.stat usage_usec", 100);
	set(earlier, "/job-1", "cpu.stat usage_usec", 900);
	set(later, "/job-1", "cpu.stat usage_usec", 100);
	set(earlier, "/job-2", "cpu.stat usage_usec", 10);
	set(later, "/job-2", "cpu.stat usage_usec", 15);
	compare();
	row = row_of("/a", "cpu.stat usage_usec");
	assert_int_equal(row->state, ROW_RESET);
	assert_false(row->delta.known);
	assert_false(row->has_rate);
	row = row_of("/job-{N}", "cpu.stat usage_usec");
	assert_int_equal(row->state, ROW_CHANGED);
	assert_delta(row, 5);
	assert_int_equal(row->after.measured, 1);
	assert_int_equal(row->after.population, 2);
}

static void rejected_tasks_of_another_load_are_a_reset_even_when_there_are_more(void **state)
{
	const struct comparison_row *row;

	(void)state;
	host(earlier, "sched_ext enable_seq", 3);
	host(later, "sched_ext enable_seq", 4);
	host(earlier, "sched_ext nr_rejected", 10);
	host(later, "sched_ext nr_rejected", 25);
	compare();
	row = row_of("host", "sched_ext nr_rejected");
	assert_int_equal(row->section, COMPARE_SCHED_EXT);
	assert_int_equal(row->state, ROW_RESET);
	assert_false(row->delta.known);
	assert_int_equal(row_of("host", "sched_ext enable_seq")->state, ROW_CHANGED);
	host(later, "sched_ext enable_seq", 3);
	compare();
	assert_delta(row_of("host", "sched_ext nr_rejected"), 15);
	host(later, "sched_ext nr_rejected", 2);
	compare();
	assert_int_equal(row_of("host", "sched_ext nr_rejected")->state, ROW_RESET);
}

static void a_reload_is_a_reset_in_populations_of_one_boot_only(void **state)
{
	(void)state;
	comparison.mode = COMPARE_POPULATION;
	comparison.elapsed_ns = 0;
	host(earlier, "sched_ext enable_seq", 3);
	host(later, "sched_ext enable_seq", 4);
	host(earlier, "sched_ext nr_rejected", 10);
	host(later, "sched_ext nr_rejected", 5);
	snapshot_set_fact_text(earlier, FACT_boot_id, "one");
	snapshot_set_fact_text(later, FACT_boot_id, "one");
	compare();
	assert_int_equal(row_of("host", "sched_ext nr_rejected")->state, ROW_RESET);
	snapshot_set_fact_text(later, FACT_boot_id, "two");
	compare();
	assert_delta(row_of("host", "sched_ext nr_rejected"), -5);
}

static void pressure_of_the_host_and_of_cgroups_have_sections_of_their_own(void **state)
{
	const struct comparison_row *row;

	(void)state;
	host(earlier, "pressure cpu some total", 1000);
	host(later, "pressure cpu some total", 3000);
	host(earlier, "pressure cpu some avg10", 150);
	host(later, "pressure cpu some avg10", 250);
	set(earlier, "/job-1", "cpu.pressure some avg10", 100);
	set(later, "/job-1", "cpu.pressure some avg10", 300);
	set(later, "/job-2", "cpu.pressure some avg10", 200);
	compare();
	row = row_of("host", "pressure cpu some total");
	assert_int_equal(row->section, COMPARE_HOST_PRESSURE);
	assert_true(row->per_second == 1000);
	assert_delta(row_of("host", "pressure cpu some avg10"), 100);
	row = row_of("/job-{N}", "cpu.pressure some avg10");
	assert_int_equal(row->section, COMPARE_CGROUP_PRESSURE);
	/* Shares of time are not added: the largest counts. */
	assert_numbers(row, 100, 300);
}

static void memory_of_processes_is_summed_by_the_pattern_of_their_names(void **state)
{
	const struct comparison_row *row;

	(void)state;
	smaps(earlier, 1, "worker-1", 10);
	smaps(earlier, 2, "worker-2", 20);
	smaps(earlier, 3, "left", 5);
	smaps(later, 1, "worker-1", 15);
	smaps(later, 4, "worker-9", 40);
	hand_task(later, 5, 5, "left", "/");
	compare();
	row = row_of("worker-{N}", "smaps Pss");
	assert_int_equal(row->section, COMPARE_SMAPS);
	assert_numbers(row, 30, 55);
	assert_delta(row, 25);
	assert_int_equal(row->after.measured, 2);
	assert_int_equal(row->after.population, 2);
	/* The process is there: its memory was not read, which is not a process that ended. */
	row = row_of("left", "smaps Pss");
	assert_int_equal(row->state, ROW_ABSENT);
	assert_int_equal(row->after.population, 1);
}

static void a_process_that_ended_is_gone_with_its_memory(void **state)
{
	(void)state;
	smaps(earlier, 1, "stays", 10);
	smaps(later, 1, "stays", 10);
	smaps(earlier, 2, "ended", 20);
	compare();
	assert_int_equal(row_of("ended", "smaps Pss")->state, ROW_GONE);
	assert_delta(row_of("ended", "smaps Pss"), -20);
}

static void a_side_without_any_reading_is_absent_with_the_reason_of_its_source(void **state)
{
	struct source_report *source = snapshot_source(earlier, "cgroup_files");

	(void)state;
	source->state = SOURCE_OFF;
	source->reason = "not asked for";
	set(later, "/a", "memory.current", 5);
	compare();
	assert_int_equal(row_of("/a", "memory.current")->state, ROW_ABSENT);
	assert_string_equal(row_of("/a", "memory.current")->reason, "not asked for");
}

static void a_cgroup_that_only_tasks_tell_of_is_not_new(void **state)
{
	(void)state;
	hand_task(earlier, 1, 1, "init", "/a");
	set(earlier, "/b", "memory.current", 1);
	set(later, "/a", "memory.current", 5);
	set(later, "/b", "memory.current", 1);
	compare();
	assert_int_equal(row_of("/a", "memory.current")->state, ROW_ABSENT);
}

static void what_a_limited_capture_does_not_have_is_not_counted_as_born(void **state)
{
	(void)state;
	snapshot_set_fact_text(earlier, FACT_filter, "pid 1");
	set(earlier, "/a", "cpu.stat usage_usec", 1);
	set(later, "/a", "cpu.stat usage_usec", 3);
	set(later, "/b", "cpu.stat usage_usec", 1000);
	compare();
	assert_delta(row_of("/a", "cpu.stat usage_usec"), 2);
	assert_int_equal(row_of("/b", "cpu.stat usage_usec")->state, ROW_ABSENT);
	assert_non_null(row_of("/b", "cpu.stat usage_usec")->reason);
	assert_false(row_of("/b", "cpu.stat usage_usec")->delta.known);
}

static void what_came_under_the_same_limit_is_new(void **state)
{
	(void)state;
	snapshot_set_fact_text(earlier, FACT_filter, "pid 1");
	snapshot_set_fact_text(later, FACT_filter, "pid 1");
	set(earlier, "/a", "memory.current", 1);
	set(later, "/a", "memory.current", 3);
	set(later, "/b", "memory.current", 1000);
	compare();
	assert_int_equal(row_of("/b", "memory.current")->state, ROW_NEW);
}

static void a_new_cgroup_of_an_interval_did_all_that_it_has(void **state)
{
	(void)state;
	set(earlier, "/a", "cpu.stat usage_usec", 1);
	set(earlier, "/gone", "cpu.stat usage_usec", 1000);
	set(later, "/a", "cpu.stat usage_usec", 1);
	set(later, "/b", "cpu.stat usage_usec", 1000);
	compare();
	assert_int_equal(row_of("/b", "cpu.stat usage_usec")->state, ROW_NEW);
	assert_delta(row_of("/b", "cpu.stat usage_usec"), 1000);
	assert_true(row_of("/b", "cpu.stat usage_usec")->per_second == 500);
	/* What it did is done: an interval takes nothing back. */
	assert_int_equal(row_of("/gone", "cpu.stat usage_usec")->state, ROW_GONE);
	assert_false(row_of("/gone", "cpu.stat usage_usec")->delta.known);
}

static void populations_are_compared_as_they_stand(void **state)
{
	const struct comparison_row *row;

	(void)state;
	comparison.mode = COMPARE_POPULATION;
	comparison.elapsed_ns = 0;
	snapshot_set_fact_number(earlier, FACT_boottime_ns, 10 * SECOND);
	snapshot_set_fact_number(later, FACT_boottime_ns, 100 * SECOND);
	set(earlier, "/a", "cpu.stat usage_usec", 900);
	set(later, "/a", "cpu.stat usage_usec", 100);
	set(earlier, "/gone", "cpu.stat usage_usec", 9);
	host(earlier, "pressure cpu some total", 1000);
	host(later, "pressure cpu some total", 2000);
	compare();
	row = row_of("/a", "cpu.stat usage_usec");
	assert_int_equal(row->state, ROW_CHANGED);
	assert_delta(row, -800);
	assert_false(row->has_rate);
	assert_delta(row_of("/gone", "cpu.stat usage_usec"), -9);
	row = row_of("host", "pressure cpu some total");
	assert_true(row->has_rate && row->rate_before == 100 && row->rate_after == 20);
}

static void the_other_way_round_everything_is_the_other_way_round(void **state)
{
	struct comparison forth;

	(void)state;
	comparison.mode = COMPARE_POPULATION;
	set(earlier, "/a", "cpu.stat usage_usec", 900);
	set(later, "/a", "cpu.stat usage_usec", 100);
	set(earlier, "/b", "memory.current", 9);
	set(later, "/c", "memory.current", 11);
	set(earlier, "/a", "memory.max", 11);
	set_unlimited(later, "/a", "memory.max");
	compare();
	forth = comparison;
	comparison = (struct comparison){ .mode = COMPARE_POPULATION };
	compare_sides(&sides[1], &sides[0]);
	assert_int_equal(forth.rows.count, comparison.rows.count);
	for (size_t i = 0; i < forth.rows.count; i++) {
		const struct comparison_row *row = &forth.rows.data[i];
		const struct comparison_row *back =
			row_of(forth.groups.data[row->group].key, row->metric->name);

		assert_int_equal(row->delta.known, back->delta.known);
		assert_true(row->delta.real == -back->delta.real);
		assert_int_equal(row->before.shape, back->after.shape);
	}
	array_free(&forth.groups);
	array_free(&forth.rows);
	arena_clear(&forth.arena);
}

static void the_same_snapshot_twice_has_nothing_that_moved(void **state)
{
	(void)state;
	set(earlier, "/a", "cpu.stat usage_usec", 900);
	set_unlimited(earlier, "/a", "memory.max");
	set_text(earlier, "/a", "cpuset.cpus", "0-3");
	host(earlier, "pressure cpu some avg10", 150);
	smaps(earlier, 1, "init", 5);
	sides[1].snapshots = sides[0].snapshots;
	compare();
	assert_int_equal(comparison.rows.count, 5);
	for (size_t i = 0; i < comparison.rows.count; i++)
		assert_int_equal(comparison.rows.data[i].state, ROW_SAME);
	options.unchanged = false;
	compare();
	assert_int_equal(comparison.rows.count, 0);
	assert_int_equal(comparison.groups.count, 0);
	assert_int_equal(comparison.tallies[COMPARE_CGROUP].unchanged, 1);
	assert_int_equal(comparison.tallies[COMPARE_SMAPS].unchanged, 1);
	sides[1].snapshots = (const struct snapshot *const *)runs[1];
}

static void several_runs_have_medians_and_significance(void **state)
{
	const struct comparison_row *row;

	(void)state;
	comparison.mode = COMPARE_POPULATION;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 1; i < 3; i++)
			runs[side][i] = hand_new();
		sides[side].count = 3;
		for (uint64_t i = 0; i < 3; i++) {
			set(runs[side][i], "/a", "memory.current",
			    100 * (uint64_t)(side + 1) + 10 * i);
			set(runs[side][i], "/a", "pids.current", i);
			set(runs[side][i], "/a", "memory.max", 5 + i);
			set_text(runs[side][i], "/a", "cpuset.cpus", "0-3");
		}
	}
	compare();
	row = row_of("/a", "memory.current");
	assert_numbers(row, 110, 210);
	assert_true(row->significance.tested && !row->significance.is_noise);
	assert_true(row->significance.before_low == 100 && row->significance.after_high == 220);
	assert_int_equal(row->after.measured, 3);
	row = row_of("/a", "pids.current");
	assert_int_equal(row->state, ROW_SAME);
	assert_true(row->significance.is_noise);
	assert_int_equal(row_of("/a", "memory.max")->before.shape, VALUE_RANGE);
	assert_int_equal(row_of("/a", "memory.max")->state, ROW_SAME);
	assert_int_equal(row_of("/a", "cpuset.cpus")->state, ROW_SAME);
}

static void groups_of_the_same_axis_are_joined_and_others_added(void **state)
{
	struct compared_group group = { .key = "/a", .tasks_before = 3, .tasks_after = 4 };

	(void)state;
	options.axis = AXIS_CGROUP;
	set(earlier, "/a", "memory.current", 1);
	set(later, "/a", "memory.current", 2);
	set(later, "/b", "memory.current", 2);
	assert_int_equal(array_append(&comparison.groups, group), 0);
	compare_sides(&sides[0], &sides[1]);
	assert_int_equal(comparison.groups.count, 2);
	assert_int_equal(row_of("/a", "memory.current")->group, 0);
	assert_int_equal(row_of("/b", "memory.current")->group, 1);
}

static void a_renamed_cgroup_is_compared_with_what_it_was(void **state)
{
	struct compared_group group = { .key = "/new", .renamed_from = "/old" };

	(void)state;
	comparison.mode = COMPARE_POPULATION;
	options.axis = AXIS_CGROUP;
	set(earlier, "/old", "memory.current", 10);
	set(later, "/new", "memory.current", 12);
	assert_int_equal(array_append(&comparison.groups, group), 0);
	compare_sides(&sides[0], &sides[1]);
	assert_int_equal(comparison.rows.count, 1);
	assert_int_equal(row_of("/new", "memory.current")->state, ROW_CHANGED);
	assert_delta(row_of("/new", "memory.current"), 2);
}

static void only_the_sections_that_are_asked_for_are_made(void **state)
{
	(void)state;
	set(earlier, "/a", "memory.current", 1);
	set(earlier, "/a", "memory.max", 1);
	set(earlier, "/a", "memory.stat anon", 1);
	set(earlier, "/a", "brand.new", 1);
	host(earlier, "sched_tunables x", 1);
	options.sections = 1u << COMPARE_MEMORY_STAT;
	compare();
	assert_int_equal(comparison.rows.count, 1);
	assert_int_equal(row_of("/a", "memory.stat anon")->section, COMPARE_MEMORY_STAT);
	options.sections = 1u << COMPARE_HOST | 1u << COMPARE_CGROUP;
	compare();
	assert_int_equal(comparison.rows.count, 3);
	assert_int_equal(row_of("host", "sched_tunables x")->section, COMPARE_HOST);
	/* What this version does not know stays where it was found. */
	assert_int_equal(row_of("/a", "brand.new")->section, COMPARE_CGROUP);
}

static void sums_that_do_not_fit_stay_at_the_top(void **state)
{
	(void)state;
	set(earlier, "/job-1", "memory.current", UINT64_MAX - 1);
	set(earlier, "/job-2", "memory.current", 5);
	set(later, "/job-1", "memory.current", 0);
	compare();
	assert_int_equal(row_of("/job-{N}", "memory.current")->before.number, UINT64_MAX);
	assert_int_equal(row_of("/job-{N}", "memory.current")->after.number, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(counters_of_an_interval_are_differences_and_rates),
		TEST(a_cgroup_that_contains_another_of_its_key_is_not_added_twice),
		TEST(a_value_that_the_parent_lacks_is_taken_from_the_children),
		TEST(events_of_the_cgroup_alone_are_added_though_one_contains_the_other),
		TEST(siblings_of_one_pattern_are_one_group),
		TEST(cgroups_that_come_and_go_neither_add_their_past_nor_take_it_along),
		TEST(new_gone_absent_zero_and_unlimited_are_all_different),
		TEST(a_limit_that_was_not_read_is_not_one_that_nobody_set),
		TEST(limits_are_not_added),
		TEST(settings_may_be_below_zero),
		TEST(words_are_the_most_frequent_ones_and_change_with_the_rest),
		TEST(a_counter_that_fell_began_again),
		TEST(rejected_tasks_of_another_load_are_a_reset_even_when_there_are_more),
		TEST(a_reload_is_a_reset_in_populations_of_one_boot_only),
		TEST(pressure_of_the_host_and_of_cgroups_have_sections_of_their_own),
		TEST(memory_of_processes_is_summed_by_the_pattern_of_their_names),
		TEST(a_process_that_ended_is_gone_with_its_memory),
		TEST(a_side_without_any_reading_is_absent_with_the_reason_of_its_source),
		TEST(a_cgroup_that_only_tasks_tell_of_is_not_new),
		TEST(what_a_limited_capture_does_not_have_is_not_counted_as_born),
		TEST(what_came_under_the_same_limit_is_new),
		TEST(a_new_cgroup_of_an_interval_did_all_that_it_has),
		TEST(populations_are_compared_as_they_stand),
		TEST(the_other_way_round_everything_is_the_other_way_round),
		TEST(the_same_snapshot_twice_has_nothing_that_moved),
		TEST(several_runs_have_medians_and_significance),
		TEST(groups_of_the_same_axis_are_joined_and_others_added),
		TEST(a_renamed_cgroup_is_compared_with_what_it_was),
		TEST(only_the_sections_that_are_asked_for_are_made),
		TEST(sums_that_do_not_fit_stay_at_the_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
