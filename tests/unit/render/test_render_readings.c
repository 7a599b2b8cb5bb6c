/* SPDX-License-Identifier: MIT */
/* Readings as text, JSON and CSV: absent, unlimited and zero look different in each. */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "hand_snapshot.h"
#include "render/sheet/sheet_view.h"
#include "render/snapshot/capture_note.h"
#include "render/terminal.h"

#define ALL UINT32_MAX

static void set(struct sheet *sheet, uint32_t row, const char *name, enum cell_state state,
		uint64_t value)
{
	assert_int_equal(sheet_set(sheet, row, name, state, value), 0);
}

/* Two cgroups, of which the second has a limit, and a host under pressure. */
static struct snapshot *make(void)
{
	struct snapshot *snapshot = hand_new();
	struct sheet *cgroups = &snapshot->sheets[SHEET_CGROUPS];
	struct sheet *processes = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t root, child, row;

	hand_task(snapshot, 10, 10, "server", "/a\x1b");
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(sheet_add_row(cgroups, hand_text(snapshot, "/"), &root), 0);
	assert_int_equal(sheet_add_row(cgroups, hand_text(snapshot, "/a\x1b"), &child), 0);
	set(cgroups, child, "memory.max", CELL_NUMBER, 0);
	set(cgroups, root, "memory.high", CELL_UNLIMITED, 0);
	set(cgroups, child, "cpu.weight.nice", CELL_NUMBER, (uint64_t)-3);
	set(cgroups, child, "cpuset.cpus", CELL_TEXT, hand_text(snapshot, "0-1"));
	set(cgroups, child, "memory.stat anon", CELL_NUMBER, 4096);
	set(cgroups, child, "memory.stat pgfault", CELL_NUMBER, 7);
	set(cgroups, child, "cpu.pressure some avg10", CELL_NUMBER, 1234);
	set(cgroups, child, "cpu.pressure some total", CELL_NUMBER, 5);
	assert_int_equal(sheet_set_origin(cgroups, "memory.max", "v1 memory"), 0);
	assert_int_equal(sheet_set_absent(cgroups, "memory.max", "the root has none"), 0);
	assert_int_equal(sheet_set_absent(cgroups, "memory.low", "no such file"), 0);
	assert_int_equal(sheet_add_row(processes, 0, &row), 0);
	set(processes, row, "smaps Pss", CELL_NUMBER, 8192);
	assert_int_equal(snapshot_note_number(snapshot, SHEET_HOST, "pressure io full total", 9),
			 0);
	assert_int_equal(snapshot_note_text(snapshot, SHEET_HOST, "sched_ext state", "disabled"),
			 0);
	assert_int_equal(
		snapshot_note_number(snapshot, SHEET_CAPTURE, "jemalloc privilege_dominant", 1), 0);
	assert_int_equal(snapshot_finish_sheets(snapshot), 0);
	return snapshot;
}

static void assert_section(enum metric_section section, size_t limit, const char *expected)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = make();
	CLEANUP(free_pointer) char *printed = NULL;
	struct terminal terminal = { 0 };
	size_t length;
	FILE *out = open_memstream(&printed, &length);

	assert_int_equal(sheet_text_print(snapshot, section, limit, true, &terminal, out), 0);
	fclose(out);
	assert_string_equal(printed, expected);
}

static void a_limit_that_is_absent_unlimited_or_zero_reads_differently(void **state)
{
	(void)state;
	assert_section(SECTION_LIMITS, 0,
		       "cgroup  cpu.weight.nice  memory.max  memory.high  cpuset.cpus\n"
		       "/                     -           -          max  -\n"
		       "/a\\x1b               -3         0 B            -  0-1\n"
		       "from v1 memory: memory.max\n"
		       "absent, the root has none: memory.max\n"
		       "absent, no such file: memory.low\n");
}

static void rows_that_are_hidden_are_counted(void **state)
{
	(void)state;
	assert_section(SECTION_MEMORY_STAT, 1,
		       "cgroup  anon  pgfault\n"
		       "/          -        -\n"
		       "… 1 more cgroups (-n 0 shows all)\n");
}

static void memory_of_a_process_has_its_number(void **state)
{
	(void)state;
	assert_section(SECTION_MEMORY, 0,
		       "process          Pss\n"
		       "server[10]  8.00 KiB\n");
}

static void pressure_of_host_and_cgroups_is_one_table(void **state)
{
	(void)state;
	assert_section(
		SECTION_PRESSURE, 0,
		"cgroup  waits for  some avg10  some avg60  some avg300  some total  full avg10  full avg60  full avg300  full total\n"
		"(host)  io                  -           -            -           -           -           -            -        9 us\n"
		"/a\\x1b  cpu            12.3 %           -            -        5 us           -           -            -           -\n");
}

static void facts_and_readings_of_the_host_are_lists(void **state)
{
	(void)state;
	assert_section(SECTION_HOST, 0,
		       "\n"
		       "host             value\n"
		       "sched_ext state  disabled\n");
}

static void what_is_true_or_false_reads_yes_or_no(void **state)
{
	(void)state;
	assert_section(SECTION_HEAP, 0,
		       "capture                      value\n"
		       "jemalloc privilege_dominant  yes\n");
}

static void json_has_true_and_false(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = make();
	CLEANUP(free_pointer) char *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);
	struct json json = json_writer(out);

	(void)state;
	capture_json(&json, snapshot);
	fclose(out);
	assert_non_null(strstr(printed, "\"privilege_dominant\": true"));
}

static void json_nests_by_the_words_of_a_name(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = make();
	CLEANUP(free_pointer) char *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);
	struct json json = json_writer(out);

	(void)state;
	json_begin_object(&json);
	sheet_json_cgroups(&json, snapshot, ALL);
	json_end_object(&json);
	fclose(out);
	assert_non_null(strstr(printed, "{\"path\":\"/\",\"memory.high\":\"max\"}"));
	assert_non_null(strstr(printed,
			       "{\"path\":\"/a\\\\x1b\",\"cpu.weight.nice\":-3,"
			       "\"memory.max\":0,\"cpuset.cpus\":\"0-1\","
			       "\"memory.stat\":{\"anon\":4096,\"pgfault\":7},"
			       "\"cpu.pressure\":{\"some\":{\"avg10\":1234,\"total\":5}}}"));
	assert_non_null(strstr(printed, "\"memory.max\": \"v1 memory\""));
	assert_non_null(strstr(printed, "\"memory.low\": \"no such file\""));
}

static void csv_has_a_line_for_each_reading(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = make();
	CLEANUP(free_pointer) char *printed = NULL;
	size_t length;
	FILE *out = open_memstream(&printed, &length);

	(void)state;
	assert_int_equal(sheet_csv_print(snapshot, 1u << SECTION_LIMITS | 1u << SECTION_HOST, out),
			 0);
	fclose(out);
	assert_string_equal(printed, "table,row,reading,value,unit\n"
				     "host,,sched_ext state,disabled,text\n"
				     "cgroups,/,memory.high,max,bytes\n"
				     "cgroups,/a\\x1b,cpu.weight.nice,-3,level\n"
				     "cgroups,/a\\x1b,memory.max,0,bytes\n"
				     "cgroups,/a\\x1b,cpuset.cpus,0-1,text\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_that_is_absent_unlimited_or_zero_reads_differently),
		cmocka_unit_test(rows_that_are_hidden_are_counted),
		cmocka_unit_test(memory_of_a_process_has_its_number),
		cmocka_unit_test(pressure_of_host_and_cgroups_is_one_table),
		cmocka_unit_test(facts_and_readings_of_the_host_are_lists),
		cmocka_unit_test(what_is_true_or_false_reads_yes_or_no),
		cmocka_unit_test(json_has_true_and_false),
		cmocka_unit_test(json_nests_by_the_words_of_a_name),
		cmocka_unit_test(csv_has_a_line_for_each_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
