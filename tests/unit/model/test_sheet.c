/* SPDX-License-Identifier: MIT */
/* Tables of readings: cells, their three kinds of emptiness, and the order of columns. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "metric/reading.h"
#include "model/snapshot/sheet.h"

static uint32_t add_row(struct sheet *sheet, uint32_t key)
{
	uint32_t row;

	assert_int_equal(sheet_add_row(sheet, key, &row), 0);
	return row;
}

static void absent_unlimited_and_zero_are_three_things(void **state)
{
	struct sheet sheet = { 0 };
	uint32_t first = add_row(&sheet, 7), second = add_row(&sheet, 8),
		 third = add_row(&sheet, 9);
	const struct column *column;
	uint64_t value = 1;

	(void)state;
	assert_int_equal(sheet_set(&sheet, first, "memory.max", CELL_UNLIMITED, 0), 0);
	assert_int_equal(sheet_set(&sheet, second, "memory.max", CELL_NUMBER, 0), 0);
	column = sheet_find(&sheet, "memory.max");
	assert_int_equal(column_get(column, first, &value), CELL_UNLIMITED);
	assert_int_equal(column_get(column, second, &value), CELL_NUMBER);
	assert_int_equal(value, 0);
	assert_int_equal(column_get(column, third, &value), CELL_ABSENT);
	assert_int_equal(column_get(sheet_find(&sheet, "memory.high"), first, &value), CELL_ABSENT);
	assert_int_equal(column_measured(column, sheet.row_count), 2);
	sheet_clear(&sheet);
}

static void rows_may_come_after_columns(void **state)
{
	struct sheet sheet = { 0 };
	uint32_t row = add_row(&sheet, 0);
	uint64_t value;

	(void)state;
	assert_int_equal(sheet_set(&sheet, row, "pids.current", CELL_NUMBER, 3), 0);
	for (uint32_t key = 1; key < 1000; key++)
		add_row(&sheet, key);
	assert_int_equal(column_get(sheet_find(&sheet, "pids.current"), 0, &value), CELL_NUMBER);
	assert_int_equal(value, 3);
	assert_int_equal(column_get(sheet_find(&sheet, "pids.current"), 999, &value), CELL_ABSENT);
	sheet_clear(&sheet);
}

static void rows_that_stay_move_up_with_what_they_have(void **state)
{
	static const uint32_t new_keys[] = { 4, SHEET_KEY_GONE, 5 };
	struct sheet sheet = { 0 };
	const struct column *column;
	uint64_t value;

	(void)state;
	for (uint32_t key = 0; key < 3; key++)
		add_row(&sheet, key);
	assert_int_equal(sheet_set(&sheet, 1, "memory.max", CELL_UNLIMITED, 0), 0);
	assert_int_equal(sheet_set(&sheet, 2, "memory.max", CELL_NUMBER, 7), 0);
	assert_int_equal(sheet_move(&sheet, new_keys, "none"), 0);
	assert_int_equal(sheet.row_count, 2);
	assert_int_equal(sheet.keys[0], 4);
	assert_int_equal(sheet.keys[1], 5);
	column = sheet_find(&sheet, "memory.max");
	assert_int_equal(column_get(column, 0, &value), CELL_ABSENT);
	assert_int_equal(column_get(column, 1, &value), CELL_NUMBER);
	assert_int_equal(value, 7);
	sheet_clear(&sheet);
}

static void the_first_reason_is_kept(void **state)
{
	struct sheet sheet = { 0 };

	(void)state;
	assert_int_equal(sheet_set_absent(&sheet, "memory.peak", "too old a kernel"), 0);
	assert_int_equal(sheet_set_absent(&sheet, "memory.peak", "another"), 0);
	assert_string_equal(sheet_find(&sheet, "memory.peak")->absent, "too old a kernel");
	sheet_clear(&sheet);
}

static void columns_of_a_file_stand_together_as_they_were_found(void **state)
{
	static const char *const names[] = { "memory.max",	    "io.stat 8:16 rbytes",
					     "memory.stat anon",    "io.stat 8:0 rios",
					     "memory.stat pgfault", "io.stat 8:0 rbytes",
					     "cpu.stat nr_periods", "cpu.stat usage_usec" };
	static const char *const wanted[] = { "cpu.stat nr_periods", "cpu.stat usage_usec",
					      "io.stat 8:16 rbytes", "io.stat 8:0 rios",
					      "io.stat 8:0 rbytes",  "memory.max",
					      "memory.stat anon",    "memory.stat pgfault" };
	struct sheet sheet = { 0 };
	uint32_t row = add_row(&sheet, 0);
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(sheet_set(&sheet, row, names[i], CELL_NUMBER, i), 0);
	assert_int_equal(sheet_finish(&sheet), 0);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_string_equal(sheet.columns.data[i].metric->name, wanted[i]);
	assert_int_equal(sheet_set(&sheet, row, "memory.max", CELL_NUMBER, 99), 0);
	assert_int_equal(column_get(sheet_find(&sheet, "memory.max"), row, &value), CELL_NUMBER);
	assert_int_equal(value, 99);
	assert_int_equal(sheet.columns.count, ARRAY_SIZE(names));
	sheet_clear(&sheet);
}

/* A file that could not be read at all has the name of its values' first word, and no family. */
static void columns_that_are_in_order_stay_in_it(void **state)
{
	static const char *const names[] = { "io.stat", "cpu.stat", "cpu.stat usage_usec" };
	static const char *const wanted[] = { "cpu.stat usage_usec", "io.stat", "cpu.stat" };
	struct sheet sheet = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(sheet_set_absent(&sheet, names[i], "may not be read"), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(sheet_finish(&sheet), 0);
		for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
			assert_string_equal(sheet.columns.data[i].metric->name, wanted[i]);
	}
	sheet_clear(&sheet);
}

static void a_name_that_is_too_long_or_one_column_too_many_is_refused(void **state)
{
	struct sheet sheet = { 0 };
	uint32_t row = add_row(&sheet, 0);
	char name[SHEET_NAME_SIZE + 1];

	(void)state;
	memset(name, 'x', SHEET_NAME_SIZE);
	name[SHEET_NAME_SIZE] = '\0';
	assert_int_equal(sheet_set(&sheet, row, name, CELL_NUMBER, 1), -E2BIG);
	assert_int_equal(sheet_set(&sheet, row, "", CELL_NUMBER, 1), -E2BIG);
	for (unsigned i = 0; i < SHEET_COLUMNS_MAX; i++) {
		snprintf(name, sizeof(name), "memory.stat key%u", i);
		assert_int_equal(sheet_set(&sheet, row, name, CELL_NUMBER, i), 0);
	}
	assert_int_equal(sheet_set(&sheet, row, "one more", CELL_NUMBER, 1), -E2BIG);
	assert_int_equal(sheet_set(&sheet, row, "memory.stat key5", CELL_NUMBER, 1), 0);
	sheet_clear(&sheet);
}

static void readings_are_known_by_their_names(void **state)
{
	(void)state;
	assert_int_equal(reading_find("cpu.stat usage_usec")->unit, UNIT_US);
	assert_int_equal(reading_find("cpu.stat nr_throttled")->unit, UNIT_COUNT);
	assert_int_equal(reading_find("cpu.max quota_usec")->kind, KIND_LIMIT);
	assert_int_equal(reading_find("memory.stat anon")->unit, UNIT_BYTES);
	assert_int_equal(reading_find("memory.stat anon")->kind, KIND_GAUGE);
	assert_int_equal(reading_find("memory.stat pgmajfault")->kind, KIND_COUNTER);
	assert_int_equal(reading_find("memory.stat zswap")->unit, UNIT_BYTES);
	assert_int_equal(reading_find("memory.stat zswpin")->unit, UNIT_COUNT);
	assert_int_equal(reading_find("memory.events.local oom")->section, SECTION_MEMORY_EVENTS);
	assert_int_equal(reading_find("io.stat 8:0 rbytes")->unit, UNIT_BYTES);
	assert_int_equal(reading_find("io.stat 8:0 rios")->unit, UNIT_COUNT);
	assert_int_equal(reading_find("cpu.pressure some avg10")->unit, UNIT_CENTIPERCENT);
	assert_int_equal(reading_find("pressure io full total")->unit, UNIT_US);
	assert_int_equal(reading_find("smaps Pss")->unit, UNIT_BYTES);
	assert_string_equal(reading_find("what is that")->name, "*");
	assert_string_equal(reading_find("")->name, "*");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_unlimited_and_zero_are_three_things),
		cmocka_unit_test(rows_may_come_after_columns),
		cmocka_unit_test(rows_that_stay_move_up_with_what_they_have),
		cmocka_unit_test(the_first_reason_is_kept),
		cmocka_unit_test(columns_of_a_file_stand_together_as_they_were_found),
		cmocka_unit_test(columns_that_are_in_order_stay_in_it),
		cmocka_unit_test(a_name_that_is_too_long_or_one_column_too_many_is_refused),
		cmocka_unit_test(readings_are_known_by_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
