/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "render/table.h"

static void add(struct table *table, const char *cell)
{
	text_append_string(table_cell(table), cell);
	table_end_cell(table);
}

static void fill(struct table *table)
{
	table_add_column(table, "group", TABLE_NAME);
	table_add_column(table, "tasks", TABLE_RIGHT);
	table_add_column(table, "state", TABLE_LEFT);
	add(table, "nginx");
	add(table, "12");
	add(table, "S");
	add(table, "/system.slice/gr\xc3\xbc\xc3\x9f"
		   "e.service");
	add(table, "3");
	add(table, "");
}

static void assert_printed(const struct table *table, struct terminal terminal,
			   const char *expected)
{
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	assert_int_equal(table_print(table, &terminal, out), 0);
	fclose(out);
	assert_string_equal(printed, expected);
	free(printed);
}

static void columns_are_aligned_by_characters_and_no_line_ends_in_blanks(void **state)
{
	struct table table = { 0 };

	(void)state;
	fill(&table);
	assert_printed(&table, (struct terminal){ 0 },
		       "group                        tasks  state\n"
		       "nginx                           12  S\n"
		       "/system.slice/gr\xc3\xbc\xc3\x9f"
		       "e.service      3\n");
	table_clear(&table);
}

static void on_a_terminal_a_long_path_loses_its_start_and_the_header_is_coloured(void **state)
{
	struct table table = { 0 };

	(void)state;
	fill(&table);
	assert_printed(&table, (struct terminal){ .colour = true, .width = 33 },
		       "\033[1;36mgroup                tasks  state\033[0m\n"
		       "nginx                   12  S\n"
		       "…lice/gr\xc3\xbc\xc3\x9f"
		       "e.service      3\n");
	table_clear(&table);
}

static void a_long_name_loses_its_end_but_keeps_twelve_characters(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_column(&table, "group", TABLE_NAME);
	table_add_column(&table, "n", TABLE_RIGHT);
	add(&table, "abcdefghijklmnopqrstuvwxyz");
	add(&table, "1");
	assert_printed(&table, (struct terminal){ .width = 5 },
		       "group         n\n"
		       "abcdefghijk…  1\n");
	assert_printed(&table, (struct terminal){ 0 },
		       "group                       n\n"
		       "abcdefghijklmnopqrstuvwxyz  1\n");
	table_clear(&table);
}

static void a_table_without_rows_is_its_header(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_column(&table, "group", TABLE_NAME);
	table_add_column(&table, "tasks", TABLE_RIGHT);
	assert_printed(&table, (struct terminal){ 0 }, "group  tasks\n");
	table_clear(&table);
}

static void what_is_not_a_terminal_gets_no_colour_and_is_not_cut(void **state)
{
	FILE *out = tmpfile();
	struct terminal terminal = terminal_of(out);

	(void)state;
	assert_false(terminal.colour);
	assert_int_equal(terminal.width, 0);
	fclose(out);
}

static void marks_are_colours_on_a_terminal_only(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_column(&table, "delta", TABLE_RIGHT);
	table_add_column(&table, "%", TABLE_LEFT);
	table_mark(&table, TABLE_MORE);
	add(&table, "+1");
	add(&table, "x");
	table_mark(&table, TABLE_LESS);
	add(&table, "-22.0");
	add(&table, "y");
	assert_printed(&table, (struct terminal){ 0 },
		       "delta  %\n"
		       "   +1  x\n"
		       "-22.0  y\n");
	assert_printed(&table, (struct terminal){ .colour = true, .width = 80 },
		       "\033[1;36mdelta  %\033[0m\n"
		       "   \033[33m+1\033[0m  x\n"
		       "\033[35m-22.0\033[0m  y\n");
	table_clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_by_characters_and_no_line_ends_in_blanks),
		cmocka_unit_test(
			on_a_terminal_a_long_path_loses_its_start_and_the_header_is_coloured),
		cmocka_unit_test(a_long_name_loses_its_end_but_keeps_twelve_characters),
		cmocka_unit_test(a_table_without_rows_is_its_header),
		cmocka_unit_test(what_is_not_a_terminal_gets_no_colour_and_is_not_cut),
		cmocka_unit_test(marks_are_colours_on_a_terminal_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
