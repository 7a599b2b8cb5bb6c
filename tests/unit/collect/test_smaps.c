/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collect/process/smaps.h"
#include "scene.h"

#define HEADER "55cd3a000000-7ffd5a3fe000 ---p 00000000 00:00 0                  [rollup]\n"

static const char rollup[] = HEADER "Rss:                1652 kB\n"
				    "Pss:                 255 kB\n"
				    "Pss_Dirty:           192 kB\n"
				    "Private_Clean:         4 kB\n"
				    "Private_Dirty:       188 kB\n"
				    "Private_Hugetlb:    2048 kB\n"
				    "Swap:                 12 kB\n"
				    "SwapPss:               6 kB\n"
				    "Invented_2031:        77 kB\n";

static void write_process(const struct tree *tree, int tgid, const char *smaps)
{
	char text[256];

	snprintf(text, sizeof(text), "%d (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 100 0 0\n",
		 tgid);
	tree_text(tree, "taskscope-root", "clock_ticks 100\npage_size 4096\n");
	tree_task_text(tree, tgid, tgid, "stat", text);
	tree_task_text(tree, tgid, 0, "stat", text);
	if (smaps)
		tree_task_text(tree, tgid, 0, "smaps_rollup", smaps);
}

static const struct source_tally *take(struct scene *scene, const char *root)
{
	scene->options.smaps = true;
	scene_open(scene, root);
	scene_collect(scene);
	assert_int_equal(smaps_collect(&scene->capture), 0);
	return &scene->capture.tallies[SOURCE_SMAPS];
}

static bool reading(const struct snapshot *snapshot, enum sheet_id id, uint32_t row,
		    const char *name, uint64_t *ret)
{
	const struct column *column = sheet_find(&snapshot->sheets[id], name);

	return column_get(column, row, ret) == CELL_NUMBER;
}

static void every_key_is_kept_also_one_of_the_future(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;
	uint64_t value;

	write_process(&scene->tree, 1, NULL);
	write_process(&scene->tree, 2, rollup);
	take(scene, scene->tree.root);
	snapshot = scene->capture.snapshot;
	assert_int_equal(cell(snapshot, METRIC_pss_bytes, 2), 255 * 1024);
	assert_int_equal(cell(snapshot, METRIC_uss_bytes, 2), (4 + 188 + 2048) * 1024);
	assert_int_equal(cell(snapshot, METRIC_swap_bytes, 2), 12 * 1024);
	assert_int_equal(cell(snapshot, METRIC_swap_pss_bytes, 2), 6 * 1024);
	assert_int_equal(snapshot->sheets[SHEET_PROCESSES].row_count, 1);
	assert_int_equal(snapshot->sheets[SHEET_PROCESSES].keys[0], 1);
	assert_int_equal(snapshot->sheets[SHEET_PROCESSES].columns.count, 9);
	assert_true(reading(snapshot, SHEET_PROCESSES, 0, "smaps Invented_2031", &value));
	assert_int_equal(value, 77 * 1024);
	assert_non_null(sheet_find(&snapshot->sheets[SHEET_PROCESSES], "smaps Rss")->absent);
	assert_false(has_cell(snapshot, METRIC_pss_bytes, 1));
}

static void a_sum_needs_all_its_parts(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;

	write_process(&scene->tree, 1,
		      HEADER "Private_Clean: 4 kB\nPrivate_Dirty: 8 kB\nPss: 1 kB\n");
	write_process(&scene->tree, 2,
		      HEADER "Private_Clean: 18446744073709551615 kB\nPrivate_Dirty: 1 kB\n"
			     "Private_Hugetlb: 0 kB\n");
	take(scene, scene->tree.root);
	snapshot = scene->capture.snapshot;
	assert_false(has_cell(snapshot, METRIC_uss_bytes, 1));
	assert_int_equal(cell(snapshot, METRIC_pss_bytes, 1), 1024);
	assert_int_equal(cell(snapshot, METRIC_uss_bytes, 2),
			 metric_from_raw(UINT64_MAX, RAW_KIB, &scene->capture.scale));
}

static void the_cost_is_noted_but_no_time_of_a_recording(void **state)
{
	struct scene *scene = *state;
	uint64_t value;

	write_process(&scene->tree, 2, rollup);
	take(scene, scene->tree.root);
	assert_true(reading(scene->capture.snapshot, SHEET_CAPTURE, 0, "smaps_cost read", &value));
	assert_int_equal(value, 1);
	assert_true(reading(scene->capture.snapshot, SHEET_CAPTURE, 0, "smaps_cost late", &value));
	assert_int_equal(value, 0);
	assert_false(reading(scene->capture.snapshot, SHEET_CAPTURE, 0, "smaps_cost elapsed_ns",
			     &value));
}

static void a_recording_without_the_files_says_so(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree, 1, NULL);
	assert_string_equal(take(scene, scene->tree.root)->reason, NOT_RECORDED);
	assert_int_equal(scene->capture.tallies[SOURCE_SMAPS].failed, 1);
}

static void having_no_memory_and_not_being_read_are_two_things(void **state)
{
	struct scene *scene = *state;
	const struct snapshot *snapshot;
	const char *reason;

	write_process(&scene->tree, 1, NULL);
	write_process(&scene->tree, 2, rollup);
	write_process(&scene->tree, 3, NULL);
	tree_task_text(&scene->tree, 1, 0, "statm", "5 4 3 2 0 1 0\n");
	tree_task_text(&scene->tree, 2, 0, "statm", "5 4 3 2 0 1 0\n");
	tree_task_text(&scene->tree, 3, 0, "statm", "0 0 0 0 0 0 0\n");
	take(scene, scene->tree.root);
	snapshot = scene->capture.snapshot;
	reason = "kernel threads and zombies have no memory of their own (1 of 3 processes); "
		 "not in the recorded tree (1 of 2 reads)";
	assert_string_equal(snapshot->columns[METRIC_pss_bytes].absent, reason);
	assert_string_equal(sheet_find(&snapshot->sheets[SHEET_PROCESSES], "smaps Rss")->absent,
			    reason);
}

static void it_is_not_read_unless_it_is_asked_for(void **state)
{
	struct scene *scene = *state;

	write_process(&scene->tree, 2, rollup);
	scene_open(scene, scene->tree.root);
	scene_collect(scene);
	assert_int_equal(smaps_collect(&scene->capture), 0);
	assert_int_equal(scene->capture.snapshot->sheets[SHEET_PROCESSES].row_count, 0);
	assert_int_equal(scene->capture.snapshot->sheets[SHEET_CAPTURE].row_count, 0);
	assert_false(has_cell(scene->capture.snapshot, METRIC_pss_bytes, 2));
}

static void we_have_memory_of_our_own(void **state)
{
	struct scene *scene = *state;
	const int32_t self = getpid();
	const struct source_tally *tally;
	const struct snapshot *snapshot;
	uint64_t elapsed = 0, longest = 0, rss = 0;

	scene->options.pids = &self;
	scene->options.pid_count = 1;
	tally = take(scene, NULL);
	snapshot = scene->capture.snapshot;
	assert_int_equal(tally->read, 1);
	assert_int_equal(tally->failed, 0);
	assert_true(reading(snapshot, SHEET_PROCESSES, 0, "smaps Rss", &rss));
	assert_true(cell(snapshot, METRIC_uss_bytes, self) > 0);
	assert_true(cell(snapshot, METRIC_uss_bytes, self) <=
		    cell(snapshot, METRIC_pss_bytes, self));
	assert_true(cell(snapshot, METRIC_pss_bytes, self) <= rss);
	assert_true(reading(snapshot, SHEET_CAPTURE, 0, "smaps_cost elapsed_ns", &elapsed));
	assert_true(reading(snapshot, SHEET_CAPTURE, 0, "smaps_cost longest_ns", &longest));
	assert_true(longest > 0 && longest <= elapsed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(every_key_is_kept_also_one_of_the_future),
		SCENE_TEST(a_sum_needs_all_its_parts),
		SCENE_TEST(the_cost_is_noted_but_no_time_of_a_recording),
		SCENE_TEST(a_recording_without_the_files_says_so),
		SCENE_TEST(having_no_memory_and_not_being_read_are_two_things),
		SCENE_TEST(it_is_not_read_unless_it_is_asked_for),
		SCENE_TEST(we_have_memory_of_our_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
