/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "collect/host/sched_ext.h"
#include "scene.h"

static void write_files(const struct tree *tree)
{
	tree_text(tree, "sys/kernel/sched_ext/state", "enabled\n");
	tree_text(tree, "sys/kernel/sched_ext/switch_all", "1\n");
	tree_text(tree, "sys/kernel/sched_ext/nr_rejected", "3\n");
	tree_text(tree, "sys/kernel/sched_ext/hotplug_seq", "4\n");
	tree_text(tree, "sys/kernel/sched_ext/enable_seq", "5\n");
	tree_text(tree, "sys/kernel/sched_ext/root/ops", "simple\n");
}

static const struct sheet *collect(struct scene *scene)
{
	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
	assert_int_equal(sched_ext_collect(&scene->capture), 0);
	return &scene->capture.snapshot->sheets[SHEET_HOST];
}

static uint64_t host_cell(const struct sheet *sheet, const char *name, enum cell_state state)
{
	uint64_t value = 0;

	assert_int_equal(column_get(sheet_find(sheet, name), 0, &value), state);
	return value;
}

static void a_loaded_scheduler_is_told_with_its_name(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;
	uint64_t text;

	write_files(&scene->tree);
	sheet = collect(scene);
	text = host_cell(sheet, "sched_ext state", CELL_TEXT);
	assert_string_equal(snapshot_text(scene->capture.snapshot, (uint32_t)text), "enabled");
	text = host_cell(sheet, "sched_ext ops", CELL_TEXT);
	assert_string_equal(snapshot_text(scene->capture.snapshot, (uint32_t)text), "simple");
	assert_int_equal(host_cell(sheet, "sched_ext switch_all", CELL_NUMBER), 1);
	assert_int_equal(host_cell(sheet, "sched_ext nr_rejected", CELL_NUMBER), 3);
	assert_int_equal(host_cell(sheet, "sched_ext hotplug_seq", CELL_NUMBER), 4);
	assert_int_equal(host_cell(sheet, "sched_ext enable_seq", CELL_NUMBER), 5);
	assert_int_equal(scene->capture.tallies[SOURCE_SCHED_EXT].read, 6);
}

static void each_file_may_be_missing(void **state)
{
	static const char *const names[] = { "state", "switch_all", "nr_rejected", "hotplug_seq",
					     "enable_seq" };
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct sheet *sheet;
		char path[64];

		write_files(&scene->tree);
		snprintf(path, sizeof(path), "sys/kernel/sched_ext/%s", names[i]);
		tree_unlink(&scene->tree, path);
		sheet = collect(scene);
		assert_int_equal(sheet->columns.count, 6);
		snprintf(path, sizeof(path), "sched_ext %s", names[i]);
		host_cell(sheet, path, CELL_ABSENT);
		assert_string_equal(sheet_find(sheet, path)->absent, NOT_RECORDED);
		assert_int_equal(scene->capture.tallies[SOURCE_SCHED_EXT].failed, 0);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

static void without_a_scheduler_its_name_has_a_reason(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	tree_unlink(&scene->tree, "sys/kernel/sched_ext/root/ops");
	sheet = collect(scene);
	host_cell(sheet, "sched_ext ops", CELL_ABSENT);
	assert_string_equal(sheet_find(sheet, "sched_ext ops")->absent, NOT_RECORDED);
}

static void a_number_that_is_none_is_absent(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	tree_text(&scene->tree, "sys/kernel/sched_ext/nr_rejected", "many\n");
	tree_text(&scene->tree, "sys/kernel/sched_ext/enable_seq", "\n");
	sheet = collect(scene);
	host_cell(sheet, "sched_ext nr_rejected", CELL_ABSENT);
	host_cell(sheet, "sched_ext enable_seq", CELL_ABSENT);
	assert_non_null(strstr(sheet_find(sheet, "sched_ext nr_rejected")->absent, "no sense"));
	assert_non_null(strstr(sheet_find(sheet, "sched_ext enable_seq")->absent, "no sense"));
}

static void without_the_directory_nothing_is_set(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(collect(scene)->columns.count, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_SCHED_EXT].error, ENOENT);
	assert_string_equal(scene->capture.tallies[SOURCE_SCHED_EXT].reason, NOT_RECORDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(a_loaded_scheduler_is_told_with_its_name),
		SCENE_TEST(each_file_may_be_missing),
		SCENE_TEST(without_a_scheduler_its_name_has_a_reason),
		SCENE_TEST(a_number_that_is_none_is_absent),
		SCENE_TEST(without_the_directory_nothing_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
