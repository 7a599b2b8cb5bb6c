/* SPDX-License-Identifier: MIT */
/* How a comparison is made, which of its rows are kept, and what it says of the hosts. */
#include "comparison_scene.h"

#include <errno.h>
#include <stdio.h>

#include "analyze/compare/layout/compare_layout.h"

static void auto_takes_an_interval_only_of_one_boot_in_order(void **state)
{
	static const struct {
		const char *boot_id;
		uint64_t after_ns;
		enum compare_mode mode;
		const char *note;
	} cases[] = {
		{ "one", AFTER_NS, COMPARE_INTERVAL, "10.000 s apart" },
		{ "one", BEFORE_NS, COMPARE_INTERVAL, "0.000 s apart" },
		{ "two", AFTER_NS, COMPARE_POPULATION, "different boots" },
		{ "one", BEFORE_NS - 1, COMPARE_POPULATION, "older than the first" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(pair_free) struct pair pair = pair_new();
		CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

		snapshot_set_fact_text(pair.after, FACT_boot_id, cases[i].boot_id);
		snapshot_set_fact_number(pair.after, FACT_boottime_ns, cases[i].after_ns);
		comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
		assert_int_equal(comparison->mode, cases[i].mode);
		assert_true(has_note(comparison, cases[i].note));
	}
}

static void an_interval_of_two_boots_is_refused_with_a_sentence(void **state)
{
	struct compare_options options = pair_options(COMPARE_INTERVAL, AXIS_PCOMM);
	CLEANUP(pair_free) struct pair pair = pair_new();
	const struct snapshot *before = pair.before, *after = pair.after;
	struct compare_side first = { &before, 1 }, second = { &after, 1 };
	struct comparison *comparison = NULL;
	struct error error = { 0 };

	(void)state;
	snapshot_set_fact_text(pair.after, FACT_boot_id, "two");
	pair_finish(&pair);
	assert_int_equal(comparison_new(&first, &second, &options, &comparison, &error), -EINVAL);
	assert_non_null(strstr(error.message, "different boots"));
	assert_null(comparison);
}

static void nothing_moved_between_a_snapshot_and_itself(void **state)
{
	(void)state;
	for (int mode = COMPARE_INTERVAL; mode <= COMPARE_POPULATION; mode++)
		for (int axis = 0; axis < AXIS_COUNT; axis++) {
			CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
			struct compare_options options = pair_options(mode, axis);
			CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

			pair_finish(&pair);
			comparison = compare_snapshots(pair.after, pair.after, &options);
			assert_true(comparison->rows.count > 0);
			for (size_t i = 0; i < comparison->rows.count; i++) {
				const struct comparison_row *row = &comparison->rows.data[i];

				assert_true(row->state == ROW_SAME || row->state == ROW_ABSENT);
				assert_true(!row->delta.known || row->delta.real == 0);
				assert_true(row->score == 0);
			}
			assert_int_equal(comparison->host_changes.count, 0);
		}
}

static void hosts_that_differ_are_told_and_what_moves_by_itself_is_not(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	char name[64];

	(void)state;
	snapshot_set_fact_text(pair.before, FACT_loadavg, "1 2 3");
	snapshot_set_fact_text(pair.after, FACT_loadavg, "3 2 1");
	snapshot_set_fact_text(pair.after, FACT_kernel_release, "6.18.0");
	for (int cpu = 0; cpu < 4; cpu++) {
		snprintf(name, sizeof(name), "cpufreq_governor cpu%d", cpu);
		snapshot_note_text(pair.before, SHEET_HOST, name, "powersave");
		snapshot_note_text(pair.after, SHEET_HOST, name, "performance");
	}
	snapshot_note_text(pair.after, SHEET_HOST, "sched_tunables sched_child_runs_first", "0");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_int_equal(comparison->host_changes.count, 3);
	assert_string_equal(comparison->host_changes.data[0].name, "kernel_release");
	assert_string_equal(comparison->host_changes.data[0].after, "6.18.0");
	assert_string_equal(comparison->host_changes.data[1].name,
			    "cpufreq_governor cpu0 and 3 more");
	assert_string_equal(comparison->host_changes.data[1].before, "powersave");
	assert_null(comparison->host_changes.data[2].before);
	assert_string_equal(comparison->host_changes.data[2].after, "0");
}

/* JSON lines of a run have the chosen word of a menu, and no settings. */
static void what_one_side_keeps_in_another_form_is_not_a_change(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	snapshot_set_fact_text(pair.before, FACT_thp_enabled, "always [madvise] never");
	snapshot_set_fact_text(pair.after, FACT_thp_enabled, "madvise");
	snapshot_set_fact_text(pair.before, FACT_thp_defrag, "always [madvise] never");
	snapshot_set_fact_text(pair.after, FACT_thp_defrag, "always madvise [never]");
	snapshot_note_text(pair.before, SHEET_HOST, "sched_tunables sched_child_runs_first", "0");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_int_equal(comparison->host_changes.count, 1);
	assert_string_equal(comparison->host_changes.data[0].name, "thp_defrag");
}

static void sides_of_different_kinds_are_noted(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	snapshot_set_fact_number(pair.before, FACT_cgroup_namespace, 1);
	snapshot_set_fact_number(pair.after, FACT_cgroup_namespace, 2);
	snapshot_set_fact_text(pair.before, FACT_task_source, "bpf");
	snapshot_set_fact_text(pair.after, FACT_task_source, "procfs");
	snapshot_set_fact_text(pair.after, FACT_filter, "pid 7");
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_PCOMM);
	assert_true(has_note(comparison, "different cgroup namespaces"));
	assert_true(has_note(comparison, "bpf, then procfs"));
	assert_true(has_note(comparison, "none, then pid 7"));
}

static void a_renamed_cgroup_is_one_group_that_knows_its_old_name(void **state)
{
	CLEANUP(pair_free) struct pair pair = pair_new();
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;
	const struct comparison_row *row;
	char name[16];

	(void)state;
	for (int32_t i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "kind%c", 'a' + i);
		hand_set(pair.before, METRIC_majflt,
			 hand_task(pair.before, 10, 10 + i, name, "/old.slice/web"), 10);
		hand_set(pair.after, METRIC_majflt,
			 hand_task(pair.after, 10, 10 + i, name, "/new.slice/web"), 11);
	}
	comparison = pair_compare(&pair, COMPARE_AUTO, AXIS_CGROUP);
	row = get_row(comparison, "/new.slice/web", METRIC_majflt);
	assert_int_equal(row->state, ROW_CHANGED);
	assert_int_equal(row->before.number, 120);
	assert_delta(comparison, "/new.slice/web", METRIC_majflt, 12);
	assert_string_equal(comparison->groups.data[row->group].renamed_from, "/old.slice/web");
	assert_null(find_row(comparison, "/old.slice/web", METRIC_majflt));
}

static void rows_that_say_nothing_are_counted_instead_of_kept(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(comparison_free_pointer) struct comparison *all = NULL;
	CLEANUP(comparison_free_pointer) struct comparison *moved = NULL;
	uint64_t unchanged = 0;

	(void)state;
	pair_finish(&pair);
	all = compare_snapshots(pair.before, pair.after, &options);
	options.unchanged = false;
	moved = compare_snapshots(pair.before, pair.after, &options);
	for (size_t i = 0; i < moved->rows.count; i++)
		assert_true(moved->rows.data[i].state != ROW_SAME);
	for (int i = 0; i < COMPARE_SECTION_COUNT; i++)
		unchanged += moved->tallies[i].unchanged;
	assert_int_equal(moved->rows.count + unchanged, all->rows.count);
	assert_null(find_row(moved, "other", METRIC_run_time_ns));
	assert_non_null(find_row(moved, "server", METRIC_run_time_ns));
}

/* Groups that stand still, and groups of which only one thing moved, besides those that live. */
static struct pair still_and_moving(void)
{
	struct pair pair = lives_of_all_kinds();
	uint32_t row;

	hand_text(pair.after, "makes the numbers of all texts after it differ");
	both(&pair, 50, 50, "still", METRIC_majflt, 1, 1);
	both(&pair, 51, 51, "resident", METRIC_run_time_ns, 2, 2);
	dead(&pair, 51, METRIC_rss_bytes, 1 << 20, 2 << 20);
	both(&pair, 52, 52, "pinned", METRIC_run_time_ns, 3, 3);
	both(&pair, 53, 53, "bound", METRIC_run_time_ns, 4, 4);
	both(&pair, 54, 54, "lowered", METRIC_wait_max, 9, 8);
	hand_task(pair.before, 55, 55, "stays", "/old");
	hand_task(pair.after, 55, 55, "stays", "/old");
	hand_set(pair.before, METRIC_majflt, hand_task(pair.before, 57, 57, "mover", "/old"), 5);
	hand_set(pair.after, METRIC_majflt, hand_task(pair.after, 57, 57, "mover", "/new"), 5);
	hand_task(pair.before, 56, 56, "measured", "/");
	row = hand_task(pair.after, 56, 56, "measured", "/");
	hand_set(pair.after, METRIC_majflt, row, 0);
	for (int side = 0; side < SIDES; side++) {
		struct snapshot *snapshot = side ? pair.after : pair.before;

		for (uint32_t task = 0; task < snapshot->task_count; task++) {
			bool is_bound = side && snapshot->tasks[task].tid == 53;

			hand_set(snapshot, METRIC_cpu_affinity, task,
				 hand_text(snapshot, is_bound ? "0" : "0-3"));
		}
	}
	return pair;
}

static void assert_same_row(const struct comparison_row *row, const struct comparison_row *other)
{
	assert_int_equal(row->state, other->state);
	assert_int_equal(row->before.shape, other->before.shape);
	assert_int_equal(row->after.shape, other->after.shape);
	assert_int_equal(row->before.measured, other->before.measured);
	assert_int_equal(row->after.measured, other->after.measured);
	assert_int_equal(row->after.population, other->after.population);
	assert_int_equal(row->delta.known, other->delta.known);
	assert_true(row->delta.real == other->delta.real);
	assert_true(row->share == other->share && row->score == other->score);
	assert_int_equal(row->by_ended, other->by_ended);
}

static void assert_says_nothing(const struct comparison_row *row)
{
	assert_int_not_equal(row->state, ROW_CHANGED);
	assert_int_not_equal(row->state, ROW_RESET);
	if (row->state == ROW_ABSENT)
		assert_true(row->before.shape == VALUE_ABSENT && row->after.shape == VALUE_ABSENT);
	else if (row->state != ROW_SAME && compare_is_number(row->metric))
		assert_int_equal(row->before.number + row->after.number, 0);
}

static void groups_that_stand_still_are_counted_and_change_no_other_row(void **state)
{
	(void)state;
	for (int axis = 0; axis < AXIS_COUNT; axis++) {
		CLEANUP(pair_free) struct pair pair = still_and_moving();
		struct compare_options options = pair_options(COMPARE_AUTO, axis);
		CLEANUP(comparison_free_pointer) struct comparison *all = NULL;
		CLEANUP(comparison_free_pointer) struct comparison *moved = NULL;
		uint64_t unchanged = 0;
		size_t at = 0;

		pair_finish(&pair);
		all = compare_snapshots(pair.before, pair.after, &options);
		options.unchanged = false;
		moved = compare_snapshots(pair.before, pair.after, &options);
		for (int i = 0; i < COMPARE_SECTION_COUNT; i++)
			unchanged += moved->tallies[i].unchanged;
		assert_int_equal(moved->rows.count + unchanged, all->rows.count);
		for (size_t i = 0; i < all->rows.count; i++) {
			const struct comparison_row *row = &all->rows.data[i];

			if (at < moved->rows.count && row->group == moved->rows.data[at].group &&
			    row->metric == moved->rows.data[at].metric)
				assert_same_row(row, &moved->rows.data[at++]);
			else
				assert_says_nothing(row);
		}
		assert_int_equal(at, moved->rows.count);
		if (axis == AXIS_PCOMM || axis == AXIS_COMM || axis == AXIS_THREAD)
			assert_true(moved->moving->group_count < moved->laid->group_count);
	}
}

static void only_metrics_and_sections_that_are_asked_for_have_rows(void **state)
{
	CLEANUP(pair_free) struct pair pair = lives_of_all_kinds();
	struct compare_options options = pair_options(COMPARE_AUTO, AXIS_PCOMM);
	CLEANUP(comparison_free_pointer) struct comparison *comparison = NULL;

	(void)state;
	options.metrics = (struct selection){ .ids = { METRIC_run_time_ns, METRIC_cpu_efficiency },
					      .count = 2 };
	options.sections = 1u << COMPARE_PRIMARY;
	pair_finish(&pair);
	comparison = compare_snapshots(pair.before, pair.after, &options);
	assert_true(comparison->rows.count > 0);
	for (size_t i = 0; i < comparison->rows.count; i++)
		assert_ptr_equal(comparison->rows.data[i].metric, &metrics[METRIC_run_time_ns]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(auto_takes_an_interval_only_of_one_boot_in_order),
		cmocka_unit_test(an_interval_of_two_boots_is_refused_with_a_sentence),
		cmocka_unit_test(nothing_moved_between_a_snapshot_and_itself),
		cmocka_unit_test(hosts_that_differ_are_told_and_what_moves_by_itself_is_not),
		cmocka_unit_test(what_one_side_keeps_in_another_form_is_not_a_change),
		cmocka_unit_test(sides_of_different_kinds_are_noted),
		cmocka_unit_test(a_renamed_cgroup_is_one_group_that_knows_its_old_name),
		cmocka_unit_test(rows_that_say_nothing_are_counted_instead_of_kept),
		cmocka_unit_test(groups_that_stand_still_are_counted_and_change_no_other_row),
		cmocka_unit_test(only_metrics_and_sections_that_are_asked_for_have_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
