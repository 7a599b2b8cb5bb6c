/* SPDX-License-Identifier: MIT */
/*
 * A display without a terminal: the test has its keys, and what is on its cells, with their style.  A
 * program that includes this is linked without the real one.
 */
#ifndef FAKE_DISPLAY_H
#define FAKE_DISPLAY_H

#include <curses.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "patience.h"
#include "tui/screen/display.h"

#define FAKE_F(number) (0xf0u + (number)) /* a key of that kind, as one byte */
#define FAKE_ROWS 60
#define FAKE_COLUMNS 200

static struct {
	int rows, columns;
	const char *keys;  /* to be pressed, then the terminal is gone */
	const char *until; /* but not before this is on the screen; NULL: at once */
	unsigned waited_ms;
	char text[FAKE_ROWS][FAKE_COLUMNS + 1];
	enum style styles[FAKE_ROWS][FAKE_COLUMNS + 1];
	bool marks[FAKE_ROWS][FAKE_COLUMNS + 1];
	int cursor; /* column, or -1 */
} fake;

int display_open(const struct display_options *options, struct error *error)
{
	int ends[2], status;

	(void)options;
	(void)error;
	/* A standard input that always has something. */
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	status = write(ends[1], "x", 1) == 1 && dup2(ends[0], STDIN_FILENO) >= 0 ? 0 : -1;
	close(ends[0]);
	close(ends[1]);
	return status;
}

void display_close(void)
{
}

void display_suspend(void)
{
}

void display_resize(void)
{
}

int display_rows(void)
{
	return fake.rows;
}

int display_columns(void)
{
	return fake.columns;
}

bool display_has_blocks(void)
{
	return false;
}

void display_begin(void)
{
	for (int row = 0; row < FAKE_ROWS; row++)
		snprintf(fake.text[row], FAKE_COLUMNS + 1, "%*s", FAKE_COLUMNS, "");
	memset(fake.styles, 0, sizeof(fake.styles));
	memset(fake.marks, 0, sizeof(fake.marks));
	fake.cursor = -1;
}

void display_end(void)
{
}

int display_put(int row, int column, int width, enum style style, bool is_marked, const char *text)
{
	int i;

	for (i = 0; text[i] && i < width && column + i < fake.columns; i++) {
		fake.text[row][column + i] = text[i];
		fake.styles[row][column + i] = style;
		fake.marks[row][column + i] = is_marked;
	}
	return i;
}

int display_put_name(int row, int column, int width, bool is_marked, const char *text)
{
	return display_put(row, column, width, STYLE_PLAIN, is_marked, text);
}

void display_fill(int row, int column, bool is_marked)
{
	for (; column < fake.columns; column++)
		fake.marks[row][column] = is_marked;
}

void display_cursor(int row, int column)
{
	(void)row;
	fake.cursor = column;
}

/* One key for each time that the screen is painted. */
struct input display_read(void)
{
	static bool was_told;

	was_told = !was_told;
	if (!was_told)
		return (struct input){ .kind = INPUT_NONE };
	if (fake.keys && *fake.keys) {
		wint_t code = (unsigned char)*fake.keys++;

		if (code > FAKE_F(0))
			return (struct input){ INPUT_SPECIAL, .code = KEY_F(code - FAKE_F(0)) };
		return (struct input){ INPUT_KEY, .code = code };
	}
	for (int row = 0; fake.until && row < fake.rows; row++)
		if (strstr(fake.text[row], fake.until))
			fake.until = NULL;
	if (fake.until && fake.waited_ms++ < HANG_MS) {
		usleep(1000);
		was_told = false;
		return (struct input){ .kind = INPUT_NONE };
	}
	was_told = false;
	return (struct input){ .kind = INPUT_END };
}

/* Where the text is on the screen; fails with the screen when it is not. */
static inline int fake_find(const char *text, int *ret_column)
{
	*ret_column = 0;
	for (int row = 0; row < fake.rows; row++) {
		const char *found = strstr(fake.text[row], text);

		if (found) {
			*ret_column = (int)(found - fake.text[row]);
			return row;
		}
	}
	for (int row = 0; row < fake.rows; row++)
		print_message("|%.*s|\n", fake.columns, fake.text[row]);
	fail_msg("'%s' is not on the screen", text);
	return -1;
}

static inline void assert_shown(const char *text, enum style style, bool is_marked)
{
	int column, row = fake_find(text, &column);

	for (size_t i = 0; i < strlen(text); i++) {
		assert_int_equal(fake.styles[row][column + (int)i], style);
		assert_int_equal(fake.marks[row][column + (int)i], is_marked);
	}
}

#endif
