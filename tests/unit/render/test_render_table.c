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

#include "base/json.h"
#include "render/table/table.h"

static void add(struct table *table, const char *cell)
{
	text_append_string(put_begin(table), cell);
	put_end(table);
}

static void fill(struct table *table)
{
	table_add_title(table, "group", TABLE_NAME);
	table_add_title(table, "tasks", TABLE_RIGHT);
	table_add_title(table, "state", TABLE_LEFT);
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

static void on_a_terminal_a_long_name_loses_its_middle_and_the_header_is_coloured(void **state)
{
	struct table table = { 0 };

	(void)state;
	fill(&table);
	assert_printed(&table, (struct terminal){ .colour = true, .width = 33 },
		       "\033[1;36mgroup                tasks  state\033[0m\n"
		       "nginx                   12  S\n"
		       "/system.s…e.service      3\n");
	table_clear(&table);
}

static void wide_characters_take_two_columns_and_are_not_cut_in_half(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_title(&table, "name", TABLE_NAME);
	table_add_title(&table, "n", TABLE_RIGHT);
	add(&table, "日本語の長い名前です");
	add(&table, "1");
	add(&table, "e\xcc\x81t\xc3\xa9");
	add(&table, "2");
	assert_printed(&table, (struct terminal){ .width = 18 },
		       "name             n\n"
		       "日本語…名前です  1\n"
		       "été              2\n");
	table_clear(&table);
}

static void names_that_differ_in_their_middle_are_cut_where_they_do_not(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_title(&table, "metric", TABLE_NAME);
	table_add_title(&table, "n", TABLE_RIGHT);
	add(&table, "child_utime_ns");
	add(&table, "1");
	add(&table, "child_stime_ns");
	add(&table, "2");
	add(&table, "child_stime_ns");
	add(&table, "3");
	assert_printed(&table, (struct terminal){ .width = 16 },
		       "metric         n\n"
		       "child_u…me_ns  1\n"
		       "child_s…me_ns  2\n"
		       "child_s…me_ns  3\n");
	table_clear(&table);
}

static void hostile_names_are_escaped_before_they_are_cut(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_title(&table, "name", TABLE_NAME);
	add(&table, "\033[2J\xff\n");
	assert_printed(&table, (struct terminal){ .width = 12 },
		       "name\n"
		       "\\x1b[2…f\\x0a\n");
	table_clear(&table);
}

/* Columns of every kind of value. */
static const struct table_column typed[] = {
	{ "name", TABLE_NAME, .id = "name" },
	{ "time", TABLE_RIGHT, .id = "run_time_ns", .unit = UNIT_NS },
	{ "share", TABLE_RIGHT, 1, .id = "share" },
	{ "on", TABLE_LEFT, 3, .id = "on" },
	{ "limit", TABLE_RIGHT, 2, .id = "limit", .unit = UNIT_BYTES },
	{ "stack", TABLE_LEFT, 3, .id = "stack" },
	{ .id = "exact", .inside = "more" },
	{ .id = "why", .inside = "more", .is_nullable = true },
	{ "seen", TABLE_LEFT, .id = NULL },
};

static void fill_typed(struct table *table)
{
	put_string(table, "a,b");
	table_sign(table, '~');
	put_number(table, 1234567);
	put_share(table, 1, 3);
	put_flag(table, true);
	put_cell(table, (struct cell){ .kind = TABLE_CELL_UNLIMITED });
	text_append_string(put_begin(table), "one\ntwo\n");
	put_end_list(table);
	put_signed(table, -7);
	put_absent(table, "no permission");
	put_string(table, "here");
	put_string(table, "=x");
	put_absent(table, NULL);
	put_share(table, 1, 0);
	put_flag(table, false);
	put_number(table, 4096);
	put_empty(table);
	put_real(table, 0.5);
	put_string(table, "it is so");
	put_empty(table);
}

static void values_are_scaled_for_people(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_columns(&table, typed, ARRAY_SIZE(typed));
	fill_typed(&table);
	assert_printed(&table, (struct terminal){ 0 },
		       "name      time   share  on      limit  stack     seen\n"
		       "a,b   ~1.23 ms  33.3 %  yes       max  one, two  here\n"
		       "=x           -       -  no   4.00 KiB\n");
	table_clear(&table);
}

static void columns_give_way_by_priority_and_are_named(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_columns(&table, typed, ARRAY_SIZE(typed));
	fill_typed(&table);
	table.choice = "-m";
	assert_printed(&table, (struct terminal){ .width = 42 },
		       "name      time   share     limit  seen\n"
		       "a,b   ~1.23 ms  33.3 %       max  here\n"
		       "=x           -       -  4.00 KiB\n"
		       "2 columns more: on, stack (a wider terminal, or -m)\n");
	table_clear(&table);
}

static void programs_get_exact_values_under_the_ids(void **state)
{
	struct table table = { 0 };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);
	struct json json = json_line_writer(out);

	(void)state;
	table_add_columns(&table, typed, ARRAY_SIZE(typed));
	table_stream_json(&table, &json);
	json_begin_array(&json);
	fill_typed(&table);
	json_end_array(&json);
	table_clear(&table);
	table_add_columns(&table, typed, ARRAY_SIZE(typed));
	table_stream_csv(&table, out);
	fill_typed(&table);
	assert_false(table.failed);
	table_clear(&table);
	fclose(out);
	assert_string_equal(
		printed,
		"[{\"name\":\"a,b\",\"run_time_ns\":1234567,\"share\":0.3333333333333333,\"on\":true,\"limit\":\"max\",\"stack\":[\"one\",\"two\"],\"more\":{\"exact\":-7,\"why\":null}},{\"name\":\"=x\",\"on\":false,\"limit\":4096,\"more\":{\"exact\":0.5,\"why\":\"it is so\"}}]\n"
		"name,run_time_ns,share,on,limit,stack,exact,why\n"
		"\"a,b\",1234567,0.3333333333333333,true,max,one two,-7,\n"
		"\"'=x\",,,false,4096,,0.5,it is so\n");
	free(printed);
}

/* A row of each kind that a comparison has. */
static void fill_changes(struct table *table)
{
	const struct cell_scale runs = { .largest = 5e9, .low = 1e9, .high = 2e9 };
	struct cell delta = { .kind = TABLE_CELL_DELTA, .unit = UNIT_BYTES };

	table_sign(table, '>');
	put_cell(table, (struct cell){ .kind = TABLE_CELL_NUMBER,
				       .unit = UNIT_NS,
				       .number = 1500000000,
				       .scale = table_scale(table, runs),
				       .measured = 1,
				       .population = 2 });
	delta.number = UINT64_MAX;
	delta.high = -1;
	put_cell(table, delta);
	put_cell(table, (struct cell){ .kind = TABLE_CELL_RANGE, .low = -5, .high = 19 });
	put_cell(table, (struct cell){ .kind = TABLE_CELL_PERCENT, .real = 12.5 });
	put_word(table, "new");
	put_known(table, false, 1);
}

static void changes_have_a_sign_and_words_are_for_people_only(void **state)
{
	static const struct table_column columns[] = {
		{ "a", TABLE_LEFT, .id = "a" },
		{ "b", TABLE_LEFT, .id = "b c" },
		{ "d", TABLE_LEFT, .id = "d", .inside = "b" },
		{ "c", TABLE_LEFT, .id = "percent" },
		{ "e", TABLE_LEFT, .id = "e" },
		{ "f", TABLE_LEFT, .id = "f", .inside = "g" },
	};
	struct table table = { 0 };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);
	struct json json = json_line_writer(out);

	(void)state;
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	fill_changes(&table);
	assert_printed(&table, (struct terminal){ 0 },
		       "a                      b          d       c        e    f\n"
		       ">1.50 (1.00..2.00) s*  -16.0 EiB  -5..19  +12.5 %  new  -\n");
	table_clear(&table);
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	table_stream_json(&table, &json);
	fill_changes(&table);
	table_clear(&table);
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	table_stream_csv(&table, out);
	fill_changes(&table);
	table_clear(&table);
	fclose(out);
	assert_string_equal(printed, "{\"a\":1500000000,\"b\":{\"c\":-18446744073709551615,"
				     "\"d\":{\"min\":-5,\"max\":19}},\"percent\":12.5}\n"
				     "a,b c,d,percent,e,f\n"
				     "1500000000,-18446744073709551615,-5..19,12.5,,\n");
	free(printed);
}

static void a_table_without_rows_is_its_header(void **state)
{
	struct table table = { 0 };

	(void)state;
	table_add_title(&table, "group", TABLE_NAME);
	table_add_title(&table, "tasks", TABLE_RIGHT);
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
	table_add_title(&table, "delta", TABLE_RIGHT);
	table_add_title(&table, "%", TABLE_LEFT);
	table_mark(&table, STYLE_MORE);
	add(&table, "+1");
	add(&table, "x");
	table_mark(&table, STYLE_LESS);
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
	struct table table = { .folds = true };
	char *printed = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&printed, &length);

	table_add_title(&table, "a long name of a group", TABLE_NAME);
	table_add_title(&table, "one", TABLE_RIGHT);
	table_add_title(&table, "two", TABLE_RIGHT);
	table_add_title(&table, "three", TABLE_RIGHT);
	add(&table, "worker");
	add(&table, "1");
	add(&table, "22");
	add(&table, "333");
	assert_int_equal(table_print(&table, &terminal, out), 0);
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
	assert_folded(39, "a long name of a group  one  two  three\n"
			  "worker                    1   22    333\n");
	assert_folded(38, "a long nam…of a group  one  two  three\n"
			  "worker                   1   22    333\n");
	assert_folded(5, "a …up  one\n"
			 "wo…er    1\n"
			 "\n"
			 "a …up  two\n"
			 "wo…er   22\n"
			 "\n"
			 "a …up  three\n"
			 "wo…er    333\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_by_characters_and_no_line_ends_in_blanks),
		cmocka_unit_test(
			on_a_terminal_a_long_name_loses_its_middle_and_the_header_is_coloured),
		cmocka_unit_test(wide_characters_take_two_columns_and_are_not_cut_in_half),
		cmocka_unit_test(names_that_differ_in_their_middle_are_cut_where_they_do_not),
		cmocka_unit_test(hostile_names_are_escaped_before_they_are_cut),
		cmocka_unit_test(values_are_scaled_for_people),
		cmocka_unit_test(columns_give_way_by_priority_and_are_named),
		cmocka_unit_test(programs_get_exact_values_under_the_ids),
		cmocka_unit_test(changes_have_a_sign_and_words_are_for_people_only),
		cmocka_unit_test(a_table_without_rows_is_its_header),
		cmocka_unit_test(what_is_not_a_terminal_gets_no_colour_and_is_not_cut),
		cmocka_unit_test(marks_are_colours_on_a_terminal_only),
		cmocka_unit_test(a_terminal_has_a_width_and_colours_unless_nobody_wants_them),
		cmocka_unit_test(a_folded_table_goes_on_below_with_its_first_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
