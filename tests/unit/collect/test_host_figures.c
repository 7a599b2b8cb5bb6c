/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "collect/collector.h"
#include "scene.h"

static const struct sheet *collect(struct scene *scene)
{
	tree_directory(&scene->tree, "proc");
	scene_open(scene, scene->tree.root);
	assert_int_equal(host_figures_collect(&scene->capture), 0);
	return &scene->capture.snapshot->sheets[SHEET_HOST];
}

static void expect(const struct sheet *sheet, const char *name, uint64_t expected)
{
	uint64_t value = 0;

	assert_int_equal(column_get(sheet_find(sheet, name), 0, &value), CELL_NUMBER);
	assert_int_equal(value, expected);
}

static void write_files(const struct tree *tree)
{
	tree_text(tree, "proc/stat", "cpu 1 0 0 2\ncpu0 1 0 0 2\nctxt 3\n");
	tree_text(tree, "proc/loadavg", "0.50 0.20 0.10 1/20 300\n");
	tree_text(tree, "proc/meminfo", "MemTotal: 4 kB\n");
	tree_text(tree, "proc/vmstat", "pgmajfault 5\n");
	tree_text(tree, "proc/diskstats", "8 0 sda 1 0 2 0\n");
	tree_text(tree, "proc/net/dev", "a|b\neth0: 9 1\n");
	tree_text(tree, "proc/net/sockstat", "TCP: inuse 3 mem 1\n");
	tree_text(tree, "proc/interrupts", "CPU0\nLOC: 8 Local\n");
}

static void every_file_gives_readings_in_our_units(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	tree_text(&scene->tree, "taskscope-root", "page_size 4096\nclock_ticks 100\n");
	sheet = collect(scene);
	expect(sheet, "stat cpu user", 10000000);
	expect(sheet, "stat cpu0 idle", 20000000);
	expect(sheet, "stat ctxt", 3);
	expect(sheet, "load 1min", 50);
	expect(sheet, "load tasks", 20);
	expect(sheet, "meminfo MemTotal", 4096);
	expect(sheet, "vmstat pgmajfault", 5);
	expect(sheet, "diskstats sda read_bytes", 1024);
	expect(sheet, "net/dev eth0 rx_packets", 1);
	expect(sheet, "net/sockstat TCP mem", 4096);
	expect(sheet, "interrupts LOC", 8);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_FIGURES].read, HOST_FILE_COUNT);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_FIGURES].failed, 0);
	for (size_t i = 0; i < sheet->columns.count; i++)
		assert_true(sheet->columns.data[i].metric->section == SECTION_HOST_USAGE ||
			    sheet->columns.data[i].metric->section == SECTION_HOST_DETAILS);
}

static void a_recording_without_the_files_says_so(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet = collect(scene);

	assert_int_equal(sheet->columns.count, HOST_FILE_COUNT);
	for (size_t i = 0; i < sheet->columns.count; i++) {
		assert_string_equal(sheet->columns.data[i].absent, NOT_RECORDED);
		assert_true(sheet->columns.data[i].metric->section >= SECTION_HOST_USAGE);
	}
	assert_string_equal(scene->capture.tallies[SOURCE_HOST_FIGURES].reason, NOT_RECORDED);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_FIGURES].failed, 0);
}

static void a_file_that_makes_no_sense_is_absent_and_counted(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	tree_text(&scene->tree, "proc/vmstat", "nonsense\n");
	sheet = collect(scene);
	assert_non_null(strstr(sheet_find(sheet, "vmstat *")->absent, "form"));
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_FIGURES].failed, 1);
	expect(sheet, "stat ctxt", 3);
}

static void memory_of_sockets_needs_the_size_of_a_page(void **state)
{
	struct scene *scene = *state;
	const struct sheet *sheet;

	write_files(&scene->tree);
	sheet = collect(scene);
	assert_null(sheet_find(sheet, "net/sockstat TCP mem"));
	expect(sheet, "net/sockstat TCP inuse", 3);
}

/* More disks and interfaces than any host has: what is kept is bounded, the rest is counted. */
static void very_many_devices_are_bounded(void **state)
{
	CLEANUP(text_free) struct text disks = { 0 }, interfaces = { 0 }, interrupts = { 0 };
	struct scene *scene = *state;
	const struct sheet *sheet;

	for (int i = 0; i < 5000; i++) {
		text_format(&disks, "8 0 d%dx 1 2 3 4\n", i);
		text_format(&interfaces, "e%d: 1 2 3 4\n", i);
	}
	for (int i = 0; i < 40000; i++)
		text_format(&interrupts, "%d: 1\n", i);
	write_files(&scene->tree);
	tree_text(&scene->tree, "proc/diskstats", text_string(&disks));
	tree_text(&scene->tree, "proc/net/dev", text_string(&interfaces));
	tree_text(&scene->tree, "proc/interrupts", text_string(&interrupts));
	sheet = collect(scene);
	assert_in_range(sheet->columns.count, 1088 + 2048, 1088 + 2048 + 100);
	assert_int_equal(scene->capture.tallies[SOURCE_HOST_FIGURES].failed, 3);
	assert_non_null(strstr(sheet_find(sheet, "interrupts *")->absent, "larger"));
	expect(sheet, "stat ctxt", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE_TEST(every_file_gives_readings_in_our_units),
		SCENE_TEST(a_recording_without_the_files_says_so),
		SCENE_TEST(a_file_that_makes_no_sense_is_absent_and_counted),
		SCENE_TEST(memory_of_sockets_needs_the_size_of_a_page),
		SCENE_TEST(very_many_devices_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
