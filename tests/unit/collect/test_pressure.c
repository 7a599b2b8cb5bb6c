/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "collect/host/pressure.h"
#include "scene.h"

#define BOTH_LINES                                                                                 \
	"some avg10=1.36 avg60=0.05 avg300=100.00 total=1090712918\n"                              \
	"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
#define FULL_LINE "full avg10=0.00 avg60=0.10 avg300=0.00 total=77\n"

static const struct sheet *collect(struct scene *scene)
{
	scene_open(scene, scene->tree.root);
	assert_int_equal(pressure_collect(&scene->capture), 0);
	return &scene->capture.snapshot->sheets[SHEET_HOST];
}

static void write_files(const struct tree *tree)
{
	tree_text(tree, "proc/pressure/cpu", BOTH_LINES);
	tree_text(tree, "proc/pressure/memory", BOTH_LINES);
	tree_text(tree, "proc/pressure/io", BOTH_LINES);
	tree_text(tree, "proc/pressure/irq", FULL_LINE);
}

static void the_host_has_a_row_of_each_resource(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;
	uint64_t value;

	write_files(&scene->tree);
	sheet = collect(scene);
	assert_int_equal(sheet->row_count, 1);
	assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].read, 4);
	assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].failed, 0);
	assert_int_equal(column_get(sheet_find(sheet, "pressure io some avg10"), 0, &value),
			 CELL_NUMBER);
	assert_int_equal(value, 136);
	assert_int_equal(column_get(sheet_find(sheet, "pressure irq full total"), 0, &value),
			 CELL_NUMBER);
	assert_int_equal(value, 77);
}

/* The kernel writes zeros there, which say nothing. */
static void a_whole_host_has_no_full_cpu_pressure(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;
	uint64_t value;

	write_files(&scene->tree);
	sheet = collect(scene);
	assert_int_equal(column_get(sheet_find(sheet, "pressure cpu full total"), 0, &value),
			 CELL_ABSENT);
	assert_string_equal(sheet_find(sheet, "pressure cpu full total")->absent,
			    PRESSURE_NO_CPU_FULL);
	assert_string_equal(sheet_find(sheet, "pressure cpu full avg10")->absent,
			    PRESSURE_NO_CPU_FULL);
}

static void each_file_may_be_missing(void **state)
{
	static const char *const names[] = { "cpu", "memory", "io", "irq" };
	struct scene *scene = *state;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct sheet *sheet;
		char path[64];

		write_files(&scene->tree);
		snprintf(path, sizeof(path), "proc/pressure/%s", names[i]);
		tree_unlink(&scene->tree, path);
		sheet = collect(scene);
		assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].read, 3);
		assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].failed, 0);
		if (strcmp(names[i], "irq") != 0) {
			snprintf(path, sizeof(path), "pressure %s some avg10", names[i]);
			assert_string_equal(sheet_find(sheet, path)->absent, NOT_RECORDED);
		}
		snprintf(path, sizeof(path), "pressure %s full total", names[i]);
		assert_string_equal(sheet_find(sheet, path)->absent, NOT_RECORDED);
		assert_int_equal(column_measured(sheet_find(sheet, path), sheet->row_count), 0);
		scene_close(scene);
	}
	scene_open(scene, scene->tree.root);
}

static void a_file_that_says_nothing_known_is_a_failure(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	tree_text(&scene->tree, "proc/pressure/memory", "a new format\n");
	sheet = collect(scene);
	assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].failed, 1);
	assert_non_null(strstr(sheet_find(sheet, "pressure memory full total")->absent, "form"));
}

static void without_the_directory_everything_has_that_reason(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	tree_directory(&scene->tree, "proc");
	sheet = collect(scene);
	assert_int_equal(sheet->row_count, 0);
	assert_int_equal(sheet->columns.count, 28);
	for (size_t i = 0; i < sheet->columns.count; i++)
		assert_string_equal(sheet->columns.data[i].absent, NOT_RECORDED);
	assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].error, ENOENT);
	assert_string_equal(scene->capture.tallies[SOURCE_PRESSURE].reason, NOT_RECORDED);
}

static void a_mount_of_processes_alone_says_nothing_about_the_kernel(void **state)
{
	struct scene *scene = *state;
	const struct source_tally *tally = &scene->capture.tallies[SOURCE_PRESSURE];

	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
	scene->host->live = true;
	assert_int_equal(pressure_collect(&scene->capture), 0);
	assert_non_null(strstr(tally->reason, "subset=pid"));
	assert_int_not_equal(tally->error, ENOENT);
}

static void pressure_that_is_not_wanted_is_not_read(void **state)
{
	struct scene *scene = *state;

	write_files(&scene->tree);
	scene->options.without = 1u << SOURCE_PRESSURE;
	assert_int_equal(collect(scene)->columns.count, 0);
	assert_int_equal(scene->capture.tallies[SOURCE_PRESSURE].read, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(the_host_has_a_row_of_each_resource),
		SCENE_TEST(a_whole_host_has_no_full_cpu_pressure),
		SCENE_TEST(each_file_may_be_missing),
		SCENE_TEST(a_file_that_says_nothing_known_is_a_failure),
		SCENE_TEST(without_the_directory_everything_has_that_reason),
		SCENE_TEST(a_mount_of_processes_alone_says_nothing_about_the_kernel),
		SCENE_TEST(pressure_that_is_not_wanted_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
