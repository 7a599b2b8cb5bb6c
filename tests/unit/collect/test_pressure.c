/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "collect/host/pressure.h"
#include "scene.h"

#define BOTH_LINES                                                                                 \
	"some avg10=1.36 avg60=0.05 avg300=100.00 total=1090712918\n"                              \
	"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
#define FULL_LINE "full avg10=0.00 avg60=0.10 avg300=0.00 total=77\n"

static void averages_are_hundredths_of_a_percent(void **state)
{
	struct pressure pressure;

	(void)state;
	pressure_parse(BOTH_LINES, &pressure);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG10], 136);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG60], 5);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG300], 10000);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_TOTAL], 1090712918);
	assert_true(pressure.present[PRESSURE_FULL][PRESSURE_TOTAL]);
	assert_int_equal(pressure.values[PRESSURE_FULL][PRESSURE_TOTAL], 0);
}

static void a_fraction_is_filled_up_or_cut_to_two_digits(void **state)
{
	struct pressure pressure;

	(void)state;
	pressure_parse("some avg10=7 avg60=7.5 avg300=7.129 total=1\n", &pressure);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG10], 700);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG60], 750);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG300], 712);
}

static void what_is_malformed_is_absent_and_harms_no_other(void **state)
{
	static const char *const malformed[] = {
		"some avg10= total=5\n",      "some avg10=x total=5\n",
		"some avg10=-1.00 total=5\n", "some avg10=1.x total=5\n",
		"some avg10=1. total=5\n",    "some avg10=.5 total=5\n",
		"some avg10=1,36 total=5\n",  "some avg10 total=5\n",
		"some =1.00 total=5\n",	      "some avg1=1.00 total=5\n",
		"some AVG10=1.0 total=5\n",   "some avg10=0x1 total=5",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++) {
		struct pressure pressure;

		pressure_parse(malformed[i], &pressure);
		assert_false(pressure.present[PRESSURE_SOME][PRESSURE_AVG10]);
		assert_true(pressure.present[PRESSURE_SOME][PRESSURE_TOTAL]);
		assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_TOTAL], 5);
		assert_false(pressure.present[PRESSURE_FULL][PRESSURE_TOTAL]);
	}
}

static void a_total_has_no_fraction(void **state)
{
	struct pressure pressure;

	(void)state;
	pressure_parse("full total=1.5 avg10=1.5\n", &pressure);
	assert_false(pressure.present[PRESSURE_FULL][PRESSURE_TOTAL]);
	assert_int_equal(pressure.values[PRESSURE_FULL][PRESSURE_AVG10], 150);
}

static void keys_and_lines_of_newer_kernels_are_passed_over(void **state)
{
	struct pressure pressure;

	(void)state;
	pressure_parse("most avg10=9.00 total=9\nsome avg5=3.00 avg10=2.00 total=4 unit=us\n",
		       &pressure);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG10], 200);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_TOTAL], 4);
	assert_false(pressure.present[PRESSURE_SOME][PRESSURE_AVG60]);
	assert_false(pressure.present[PRESSURE_FULL][PRESSURE_TOTAL]);
}

static void what_does_not_fit_is_the_largest_that_does(void **state)
{
	struct pressure pressure;

	(void)state;
	pressure_parse("some avg10=184467440737095517.00 total=18446744073709551616\n", &pressure);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_AVG10], UINT64_MAX);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_TOTAL], UINT64_MAX);
	pressure_parse("some total=18446744073709551615\n", &pressure);
	assert_int_equal(pressure.values[PRESSURE_SOME][PRESSURE_TOTAL], UINT64_MAX);
}

static void nothing_at_all_is_nothing(void **state)
{
	struct pressure pressure;

	(void)state;
	pressure_parse("", &pressure);
	assert_false(pressure_any(&pressure));
	pressure_parse("\n\nsome\nfull \n", &pressure);
	assert_false(pressure_any(&pressure));
	pressure_parse(BOTH_LINES, &pressure);
	pressure_drop_line(&pressure, PRESSURE_SOME);
	assert_true(pressure_any(&pressure));
	pressure_drop_line(&pressure, PRESSURE_FULL);
	assert_false(pressure_any(&pressure));
}

static void a_row_gets_the_values_that_are_present(void **state)
{
	struct sheet sheet = { 0 };
	struct pressure pressure;
	uint32_t row;
	uint64_t value;

	(void)state;
	assert_int_equal(sheet_add_row(&sheet, 7, &row), 0);
	pressure_parse(FULL_LINE, &pressure);
	assert_int_equal(pressure_store(&pressure, &sheet, row, "irq.pressure"), 0);
	assert_int_equal(sheet.columns.count, PRESSURE_KEY_COUNT);
	assert_int_equal(column_get(sheet_find(&sheet, "irq.pressure full total"), row, &value),
			 CELL_NUMBER);
	assert_int_equal(value, 77);
	assert_int_equal(column_get(sheet_find(&sheet, "irq.pressure full avg60"), row, &value),
			 CELL_NUMBER);
	assert_int_equal(value, 10);
	assert_null(sheet_find(&sheet, "irq.pressure some total"));
	assert_int_equal(pressure_set_absent(&sheet, "cpu.pressure", PRESSURE_FULL, "why"), 0);
	assert_string_equal(sheet_find(&sheet, "cpu.pressure full total")->absent, "why");
	assert_string_equal(sheet_find(&sheet, "cpu.pressure full avg300")->absent, "why");
	assert_null(sheet_find(&sheet, "cpu.pressure some total"));
	sheet_clear(&sheet);
}

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
		cmocka_unit_test(averages_are_hundredths_of_a_percent),
		cmocka_unit_test(a_fraction_is_filled_up_or_cut_to_two_digits),
		cmocka_unit_test(what_is_malformed_is_absent_and_harms_no_other),
		cmocka_unit_test(a_total_has_no_fraction),
		cmocka_unit_test(keys_and_lines_of_newer_kernels_are_passed_over),
		cmocka_unit_test(what_does_not_fit_is_the_largest_that_does),
		cmocka_unit_test(nothing_at_all_is_nothing),
		cmocka_unit_test(a_row_gets_the_values_that_are_present),
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
