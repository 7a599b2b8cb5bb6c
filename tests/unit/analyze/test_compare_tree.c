/* SPDX-License-Identifier: MIT */
/* Rows for cgroups and processes of a tree: their sums are those of all that they contain. */
#include "analyze/compare/rows/compare_tree.h"

#include "analyze/cgroup/cgroup_unmatched.h"
#include "analyze/group/key_tree.h"
#include "comparison_scene.h"

static void add(struct snapshot *snapshot, int32_t tgid, int32_t tid, const char *name,
		const char *cgroup, uint64_t ns, uint64_t slices)
{
	uint32_t row = hand_task(snapshot, tgid, tid, name, cgroup);

	hand_set(snapshot, METRIC_run_time_ns, row, ns);
	hand_set(snapshot, METRIC_timeslices, row, slices);
	hand_set(snapshot, METRIC_wait_max, row, slices);
}

static void grow(struct pair *pair, int32_t tgid, int32_t tid, const char *name,
		 const char *cgroup, uint64_t ns)
{
	add(pair->before, tgid, tid, name, cgroup, 1000, 10);
	add(pair->after, tgid, tid, name, cgroup, 1000 + ns, 11 + ns / 100);
}

/* Two cgroups, one with two processes of which one has two threads; one thread is born. */
static struct comparison *scene(struct pair *pair, enum compare_mode mode)
{
	*pair = pair_new();
	grow(pair, 10, 10, "shop", "/a", 100);
	grow(pair, 10, 11, "hand", "/a", 300);
	grow(pair, 20, 20, "log", "/a", 50);
	grow(pair, 30, 30, "cron", "/b", 7);
	add(pair->after, 10, FIRST_BORN + 1, "hand", "/a", 600, 2);
	return pair_compare(pair, mode, AXIS_ALL);
}

/* Makes the row of the first inner line that the label names. */
static struct comparison_row row_of(const struct comparison *comparison, struct key_tree *keys,
				    const char *label, enum metric_id id, uint32_t *ret_tasks)
{
	struct compare_tree tree = { 0 };
	const struct metric *wanted[16] = { NULL };
	struct comparison_row row = { 0 };

	for (uint32_t i = 0; i < comparison->groups.count; i++) {
		const struct compared_group *group = &comparison->groups.data[i];
		struct tree_key key = { group->key, group->cgroup_end, group->process_end };

		assert_int_equal(key_tree_add(keys, &key, i), 0);
	}
	assert_int_equal(key_tree_finish(keys), 0);
	assert_in_range(keys->lines.count, 1, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < keys->lines.count; i++)
		if (keys->lines.data[i].item == KEY_TREE_NONE)
			wanted[i] = &metrics[id];
	assert_int_equal(compare_tree_make(&tree, comparison, keys, wanted, COMPARE_PRIMARY), 0);
	for (size_t i = 0; i < keys->lines.count; i++)
		if (wanted[i] && strcmp(keys->lines.data[i].label, label) == 0) {
			assert_non_null(tree.rows[i]);
			row = *tree.rows[i];
			*ret_tasks = tree.sums.groups.data[row.group].tasks_after;
		}
	assert_ptr_equal(row.metric, &metrics[id]);
	compare_tree_clear(&tree);
	key_tree_clear(keys);
	return row;
}

static void the_work_of_an_interval_adds_up(void **state)
{
	struct pair pair;
	struct comparison *comparison = scene(&pair, COMPARE_INTERVAL);
	struct key_tree keys = { 0 };
	uint32_t tasks = 0;
	struct comparison_row row =
		row_of(comparison, &keys, "/a", METRIC_run_time_ns, &tasks);

	(void)state;
	assert_int_equal(tasks, 4);
	assert_int_equal(row.before.number, 3000);
	assert_int_equal(row.after.number, 3000 + 450 + 600);
	assert_int_equal(row.delta.magnitude, 450 + 600);
	assert_int_equal(row.before.measured, 3);
	assert_int_equal(row.after.population, 4);
	/* Of all that moved, cron did the rest. */
	assert_true(row.share == 1050.0 / 1057);
	row = row_of(comparison, &keys, "shop", METRIC_run_time_ns, &tasks);
	assert_int_equal(row.delta.magnitude, 400 + 600);
	comparison_free(comparison);
	pair_free(&pair);
}

static void populations_add_up(void **state)
{
	struct pair pair;
	struct comparison *comparison = scene(&pair, COMPARE_POPULATION);
	struct key_tree keys = { 0 };
	uint32_t tasks = 0;
	struct comparison_row row =
		row_of(comparison, &keys, "/a", METRIC_run_time_ns, &tasks);

	(void)state;
	assert_int_equal(row.delta.magnitude, 1050);
	assert_true(row.has_rate_before && row.has_rate_after);
	comparison_free(comparison);
	pair_free(&pair);
}

static void ratios_are_of_the_sums_and_peaks_are_the_largest(void **state)
{
	struct pair pair;
	struct comparison *comparison = scene(&pair, COMPARE_INTERVAL);
	struct key_tree keys = { 0 };
	uint32_t tasks = 0;
	struct comparison_row row =
		row_of(comparison, &keys, "/a", METRIC_avg_slice_ns, &tasks);

	(void)state;
	assert_true(row.before.real == 3000.0 / 30);
	/* In between: 1050 ns in 2 + 4 + 1 + 2 slices. */
	assert_true(row.interval.real == 1050.0 / 9);
	row = row_of(comparison, &keys, "/a", METRIC_wait_max, &tasks);
	assert_int_equal(row.before.number, 10);
	assert_int_equal(row.after.number, 14);
	comparison_free(comparison);
	pair_free(&pair);
}

/* Rows of readings alone, such as those of the heap of processes, are in no tree. */
static void a_tree_without_lines_has_no_rows(void **state)
{
	struct pair pair;
	struct comparison *comparison = scene(&pair, COMPARE_INTERVAL);
	const struct metric *wanted[1] = { NULL };
	struct compare_tree tree = { 0 };
	struct key_tree keys = { 0 };

	(void)state;
	assert_int_equal(key_tree_finish(&keys), 0);
	assert_int_equal(compare_tree_make(&tree, comparison, &keys, wanted, COMPARE_HEAP), 0);
	assert_int_equal(tree.sums.rows.count, 0);
	compare_tree_clear(&tree);
	key_tree_clear(&keys);
	comparison_free(comparison);
	pair_free(&pair);
}

static void cgroups_of_one_side_are_listed_with_their_tasks(void **state)
{
	struct pair pair = pair_new();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct compare_side before = { (const struct snapshot *const *)&pair.before, 1 };
	struct compare_side after = { (const struct snapshot *const *)&pair.after, 1 };
	CLEANUP(cgroup_unmatched_clear) struct unmatched_cgroups found = { 0 };

	(void)state;
	grow(&pair, 10, 10, "shop", "/a", 100);
	add(pair.before, 20, 20, "log", "/old", 70, 1);
	add(pair.after, FIRST_BORN, FIRST_BORN, "x", "/new", 5, 1);
	add(pair.after, FIRST_BORN, FIRST_BORN + 1, "y", "/new", 6, 1);
	pair_finish(&pair);
	assert_int_equal(cgroup_unmatched_find(&found, &before, &after, &options), 0);
	assert_int_equal(found.items.count, 2);
	assert_string_equal(found.items.data[0].key, "/old");
	assert_false(found.items.data[0].is_after);
	assert_int_equal(found.items.data[0].tasks, 1);
	assert_string_equal(found.items.data[1].key, "/new");
	assert_true(found.items.data[1].is_after);
	assert_int_equal(found.items.data[1].tasks, 2);
	assert_int_equal(found.items.data[1].run_time_ns, 11);
	assert_false(found.items.data[1].has_rss);
	pair_free(&pair);
}

static void what_a_filter_kept_out_is_not_unmatched(void **state)
{
	struct pair pair = pair_new();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct compare_side before = { (const struct snapshot *const *)&pair.before, 1 };
	struct compare_side after = { (const struct snapshot *const *)&pair.after, 1 };
	CLEANUP(cgroup_unmatched_clear) struct unmatched_cgroups found = { 0 };

	(void)state;
	add(pair.after, 20, 20, "log", "/new", 70, 1);
	snapshot_set_fact_text(pair.before, FACT_filter, "pid 7");
	pair_finish(&pair);
	assert_int_equal(cgroup_unmatched_find(&found, &before, &after, &options), 0);
	assert_int_equal(found.items.count, 0);
	pair_free(&pair);
}

/* The same kinds of threads under a name that is alike: it was renamed. */
static void a_renamed_cgroup_has_a_counterpart(void **state)
{
	struct pair pair = pair_new();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	struct compare_side before = { (const struct snapshot *const *)&pair.before, 1 };
	struct compare_side after = { (const struct snapshot *const *)&pair.after, 1 };
	CLEANUP(cgroup_unmatched_clear) struct unmatched_cgroups found = { 0 };

	(void)state;
	add(pair.before, 20, 20, "log", "/x/web.service", 70, 1);
	add(pair.after, 20, 20, "log", "/y/web.service", 80, 1);
	pair_finish(&pair);
	assert_int_equal(cgroup_unmatched_find(&found, &before, &after, &options), 0);
	assert_int_equal(found.items.count, 0);
	pair_free(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_work_of_an_interval_adds_up),
		cmocka_unit_test(populations_add_up),
		cmocka_unit_test(ratios_are_of_the_sums_and_peaks_are_the_largest),
		cmocka_unit_test(a_tree_without_lines_has_no_rows),
		cmocka_unit_test(cgroups_of_one_side_are_listed_with_their_tasks),
		cmocka_unit_test(what_a_filter_kept_out_is_not_unmatched),
		cmocka_unit_test(a_renamed_cgroup_has_a_counterpart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
