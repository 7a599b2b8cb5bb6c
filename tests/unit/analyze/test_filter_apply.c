/* SPDX-License-Identifier: MIT */
/* Filters: what is left of snapshots, of two moments of one boot, and of their sheets. */
#include "two_snapshots.h"

#include <errno.h>
#include <sys/resource.h>

#include "analyze/compare/interval_snapshot.h"
#include "analyze/filter/filter.h"
#include "base/cleanup.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define SECOND ((uint64_t)1000000000)

static struct pair pair;
static struct filter filter;

static int set_up(void **state)
{
	(void)state;
	pair = pair_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	pair_free(&pair);
	filter_clear(&filter);
	filter = (struct filter){ 0 };
	return 0;
}

static void write_filter(const char *text)
{
	struct error error = { 0 };

	if (filter_add(&filter, text, &error) < 0)
		fail_msg("%s", error.message);
}

static void apply(struct snapshot *snapshot)
{
	struct error error = { 0 };

	if (filter_apply(&filter, &snapshot, 1, &error) < 0)
		fail_msg("%s", error.message);
}

static void apply_pair(void)
{
	struct error error = { 0 };

	pair_finish(&pair);
	if (filter_apply_pair(&filter, pair.before, pair.after, &error) < 0)
		fail_msg("%s", error.message);
}

static bool has_task(const struct snapshot *snapshot, int32_t tid)
{
	for (size_t row = 0; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].tid == tid)
			return true;
	return false;
}

static void only_what_matches_is_left_and_the_rest_is_counted(void **state)
{
	struct snapshot *snapshot = pair.before;

	(void)state;
	hand_task(snapshot, 1, 1, "a", "/");
	hand_task(snapshot, 2, 2, "b", "/");
	hand_task(snapshot, 3, 3, "c", "/");
	hand_task(snapshot, 3, 4, "d", "/");
	hand_set(snapshot, METRIC_rss_bytes, 0, 5);
	hand_set(snapshot, METRIC_rss_bytes, 1, 50);
	snapshot_set_absent(snapshot, METRIC_rss_bytes, "nobody looked");
	pair_finish(&pair);
	write_filter("rss_bytes>10 comm!=d");
	apply(snapshot);
	assert_int_equal(snapshot->task_count, 1);
	assert_int_equal(snapshot->process_count, 1);
	assert_int_equal(snapshot->processes[0].tgid, 2);
	assert_string_equal(snapshot->filter.text, "rss_bytes>10 comm!=d");
	assert_int_equal(snapshot->filter.tasks, 4);
	assert_int_equal(snapshot->filter.left, 1);
	/* One of the two: the other does not match for another reason. */
	assert_int_equal(snapshot->filter.absences[0].tasks, 1);
	assert_string_equal(snapshot->filter.absences[0].name, "rss_bytes");
	assert_string_equal(snapshot->filter.absences[0].reason, "nobody looked");
	assert_int_equal(snapshot->filter.absences[1].tasks, 0);
}

static void no_filter_changes_nothing(void **state)
{
	(void)state;
	hand_task(pair.before, 1, 1, "a", "/");
	pair_finish(&pair);
	apply(pair.before);
	assert_int_equal(pair.before->task_count, 1);
	assert_null(pair.before->filter.text);
}

static void add_cgroup(struct snapshot *snapshot, const char *path)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	uint32_t row;

	assert_int_equal(sheet_add_row(sheet, hand_text(snapshot, path), &row), 0);
	assert_int_equal(sheet_set(sheet, row, "memory.current", CELL_NUMBER, row + 100), 0);
}

static void cgroups_of_the_tasks_and_above_are_left(void **state)
{
	const struct sheet *sheet = &pair.before->sheets[SHEET_CGROUPS];
	uint64_t value = 0;

	(void)state;
	add_cgroup(pair.before, "/");
	add_cgroup(pair.before, "/a");
	add_cgroup(pair.before, "/b");
	add_cgroup(pair.before, "/b/c");
	add_cgroup(pair.before, "/b-c");
	add_cgroup(pair.before, "/b/c/d");
	hand_task(pair.before, 1, 1, "x", "/a");
	hand_task(pair.before, 2, 2, "y", "/b/c");
	pair_finish(&pair);
	write_filter("comm=y");
	apply(pair.before);
	assert_int_equal(sheet->row_count, 3);
	assert_string_equal(snapshot_text(pair.before, sheet->keys[0]), "/");
	assert_string_equal(snapshot_text(pair.before, sheet->keys[1]), "/b");
	assert_string_equal(snapshot_text(pair.before, sheet->keys[2]), "/b/c");
	column_get(sheet_find(sheet, "memory.current"), 1, &value);
	assert_int_equal(value, 102);
}

static long peak_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* A path of 20 kB has 10000 above it, which together are 100 MB. */
static void a_deep_cgroup_of_a_forged_file_takes_little_memory(void **state)
{
	char path[20001];
	long before;

	(void)state;
	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = i % 2 ? 'a' : '/';
	path[sizeof(path) - 1] = '\0';
	add_cgroup(pair.before, path);
	hand_task(pair.before, 1, 1, "x", path);
	pair_finish(&pair);
	write_filter("comm=x");
	before = peak_kib();
	apply(pair.before);
	assert_in_range(peak_kib() - before, 0, 50 * 1024);
	assert_int_equal(pair.before->sheets[SHEET_CGROUPS].row_count, 1);
}

static void rows_of_a_run_stay_with_their_tasks(void **state)
{
	struct sheet *threads = &pair.before->sheets[SHEET_RUN_THREADS];
	struct sheet *processes = &pair.before->sheets[SHEET_RUN_PROCESSES];
	uint64_t value = 0;

	(void)state;
	snapshot_set_fact_text(pair.before, FACT_recording, "run");
	for (int32_t pid = 1; pid <= 3; pid++) {
		uint32_t row;

		hand_task(pair.before, pid, pid, pid == 2 ? "b" : "a", "");
		assert_int_equal(sheet_add_row(threads, (uint32_t)pid - 1, &row), 0);
		assert_int_equal(sheet_set(threads, row, "x", CELL_NUMBER, (uint64_t)pid), 0);
		assert_int_equal(sheet_add_row(processes, (uint32_t)pid - 1, &row), 0);
		assert_int_equal(sheet_set(processes, row, "x", CELL_NUMBER, (uint64_t)pid), 0);
	}
	pair_finish(&pair);
	write_filter("comm=b");
	apply(pair.before);
	assert_int_equal(threads->row_count, 1);
	assert_int_equal(threads->keys[0], 0);
	column_get(sheet_find(threads, "x"), 0, &value);
	assert_int_equal(value, 2);
	assert_int_equal(processes->row_count, 1);
	assert_int_equal(processes->keys[0], 0);
}

/* It grew in between: it counts in both, so that what it did is a difference. */
static void a_task_that_matches_in_either_moment_stays_in_both(void **state)
{
	(void)state;
	for (int side = 0; side < 2; side++) {
		struct snapshot *snapshot = side ? pair.after : pair.before;

		for (int32_t pid = 1; pid <= 3; pid++) {
			uint32_t row = hand_task(snapshot, pid, pid, "a", "/");

			/* 1 grows, 2 shrinks, 3 stays small. */
			hand_set(snapshot, METRIC_rss_bytes, row,
				 (pid == 1 && side) || (pid == 2 && !side) ? 100 : 1);
		}
	}
	write_filter("rss_bytes>50");
	apply_pair();
	assert_true(has_task(pair.before, 1) && has_task(pair.after, 1));
	assert_true(has_task(pair.before, 2) && has_task(pair.after, 2));
	assert_false(has_task(pair.before, 3) || has_task(pair.after, 3));
}

/* A process of two threads, one of which ends: it had run for 7 s, and all that exited for 8 s. */
static void add_ending(void)
{
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 1, 1, "a", "/"), 0);
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 1, 2, "b", "/"),
		 7 * SECOND);
	hand_set(pair.before, METRIC_dead_run_time_ns, 0, 0);
	hand_set(pair.before, METRIC_rss_bytes, 0, 1);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 1, 1, "a", "/"), 0);
	hand_set(pair.after, METRIC_dead_run_time_ns, 0, 8 * SECOND);
	hand_set(pair.after, METRIC_rss_bytes, 0, 100);
}

static void threads_that_ended_count_with_their_process(void **state)
{
	struct comparison *comparison;

	(void)state;
	add_ending();
	write_filter("rss_bytes>50"); /* the process matches only after the thread has ended */
	apply_pair();
	assert_true(has_task(pair.before, 2));
	comparison = pair_compare(&pair, COMPARE_INTERVAL, AXIS_PCOMM);
	assert_delta(comparison, "a", METRIC_run_time_ns, (int64_t)SECOND);
	comparison_free(comparison);
}

static void what_exited_threads_of_a_split_process_did_is_absent(void **state)
{
	uint64_t value;

	(void)state;
	add_ending();
	write_filter("comm=a");
	apply_pair();
	assert_false(has_task(pair.before, 2));
	assert_false(snapshot_get(pair.before, METRIC_dead_run_time_ns, 0, &value));
	assert_false(snapshot_get(pair.after, METRIC_dead_run_time_ns, 0, &value));
	assert_non_null(strstr(pair.after->columns[METRIC_dead_run_time_ns].absent, "only some"));
}

static void two_moments_have_a_rate(void **state)
{
	(void)state;
	for (int side = 0; side < 2; side++) {
		struct snapshot *snapshot = side ? pair.after : pair.before;

		hand_set(snapshot, METRIC_run_time_ns, hand_task(snapshot, 1, 1, "a", "/"),
			 side ? 6 * SECOND : 5 * SECOND);
		hand_set(snapshot, METRIC_run_time_ns, hand_task(snapshot, 2, 2, "b", "/"),
			 50 * SECOND);
	}
	/* It was born in between, so all that it did counts. */
	hand_set(pair.after, METRIC_run_time_ns,
		 hand_task(pair.after, FIRST_BORN, FIRST_BORN, "c", "/"), 2 * SECOND);
	write_filter("cpu>=10");
	apply_pair();
	assert_int_equal(pair.before->task_count, 1);
	assert_true(has_task(pair.before, 1));
	assert_int_equal(pair.after->task_count, 2);
	assert_true(has_task(pair.after, FIRST_BORN));
}

static void snapshots_of_two_boots_have_no_rate(void **state)
{
	struct error error = { 0 };

	(void)state;
	snapshot_set_fact_text(pair.after, FACT_boot_id, "another");
	pair_finish(&pair);
	write_filter("cpu>5");
	assert_int_equal(filter_apply_pair(&filter, pair.before, pair.after, &error), -EINVAL);
	assert_non_null(strstr(error.message, "interval"));
}

static void an_interval_is_judged_by_what_was_done_in_it(void **state)
{
	struct error error = { 0 };

	(void)state;
	for (int side = 0; side < 2; side++) {
		struct snapshot *snapshot = side ? pair.after : pair.before;

		hand_set(snapshot, METRIC_run_time_ns, hand_task(snapshot, 1, 1, "a", "/"),
			 side ? 6 * SECOND : 5 * SECOND);
		hand_set(snapshot, METRIC_run_time_ns, hand_task(snapshot, 2, 2, "b", "/"),
			 side ? 53 * SECOND : 50 * SECOND);
	}
	pair_finish(&pair);
	assert_int_equal(interval_snapshot_make(pair.before, pair.after, "x", &error), 0);
	write_filter("run_time_ns<5s cpu>=20");
	apply(pair.after);
	assert_int_equal(pair.after->task_count, 1);
	assert_true(has_task(pair.after, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_what_matches_is_left_and_the_rest_is_counted),
		TEST(no_filter_changes_nothing),
		TEST(cgroups_of_the_tasks_and_above_are_left),
		TEST(a_deep_cgroup_of_a_forged_file_takes_little_memory),
		TEST(rows_of_a_run_stay_with_their_tasks),
		TEST(a_task_that_matches_in_either_moment_stays_in_both),
		TEST(threads_that_ended_count_with_their_process),
		TEST(what_exited_threads_of_a_split_process_did_is_absent),
		TEST(two_moments_have_a_rate),
		TEST(snapshots_of_two_boots_have_no_rate),
		TEST(an_interval_is_judged_by_what_was_done_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
