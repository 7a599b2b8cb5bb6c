/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
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

static struct terminal terminal_with(FILE *slave, const char *none, const char *kind,
				     unsigned short columns)
{
	struct winsize size = { .ws_row = 24, .ws_col = columns };

	assert_int_equal(ioctl(fileno(slave), TIOCSWINSZ, &size), 0);
	assert_int_equal(none ? setenv("NO_COLOR", none, 1) : unsetenv("NO_COLOR"), 0);
	assert_int_equal(kind ? setenv("TERM", kind, 1) : unsetenv("TERM"), 0);
	return terminal_of(slave);
}

static void assert_terminal(struct terminal terminal, bool colour, unsigned width)
{
	assert_int_equal(terminal.colour, colour);
	assert_int_equal(terminal.width, width);
}

static void a_terminal_has_a_width_and_colours_unless_nobody_wants_them(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), ends[2];
	FILE *slave, *pipe_end;

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = fdopen(open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC), "w");
	assert_non_null(slave);
	assert_terminal(terminal_with(slave, NULL, "xterm", 132), true, 132);
	assert_terminal(terminal_with(slave, "", NULL, 1), true, 1);
	assert_terminal(terminal_with(slave, NULL, "xterm", 0), true, 80);
	assert_terminal(terminal_with(slave, "1", "xterm", 132), false, 132);
	assert_terminal(terminal_with(slave, NULL, "dumb", 132), false, 132);
	assert_int_equal(pipe(ends), 0);
	pipe_end = fdopen(ends[1], "w");
	assert_terminal(terminal_of(pipe_end), false, 0);
	fclose(pipe_end);
	fclose(slave);
	close(ends[0]);
	close(master);
}

static void assert_folded(size_t width, const char *expected)
{
	struct terminal terminal = { .width = width };
	struct table table = { 0 };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	table_add_column(&table, "a long name of a group", TABLE_NAME);
	table_add_column(&table, "one", TABLE_RIGHT);
	table_add_column(&table, "two", TABLE_RIGHT);
	table_add_column(&table, "three", TABLE_RIGHT);
	add(&table, "worker");
	add(&table, "1");
	add(&table, "22");
	add(&table, "333");
	assert_int_equal(table_print_folded(&table, &terminal, out), 0);
	fclose(out);
	table_clear(&table);
	assert_string_equal(printed, expected);
	free(printed);
}

static void a_folded_table_goes_on_below_with_its_first_column(void **state)
{
	(void)state;
	assert_folded(0, "a long name of a group  one  two  three\n"
			 "worker                    1   22    333\n");
	assert_folded(39, "a long name …  one  two  three\n"
			  "worker           1   22    333\n");
	assert_folded(38, "a long name of a group  one  two\n"
			  "worker                    1   22\n"
			  "\n"
			  "a long name of a group  three\n"
			  "worker                    333\n");
	assert_folded(5, "a long name of a group  one\n"
			 "worker                    1\n"
			 "\n"
			 "a long name of a group  two\n"
			 "worker                   22\n"
			 "\n"
			 "a long name of a group  three\n"
			 "worker                    333\n");
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
		cmocka_unit_test(a_terminal_has_a_width_and_colours_unless_nobody_wants_them),
		cmocka_unit_test(a_folded_table_goes_on_below_with_its_first_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
