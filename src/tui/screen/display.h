/* SPDX-License-Identifier: MIT */
/*
 * The terminal, through curses: opened, written to, and always restored.
 *
 * Whatever ends the program (a signal, a fault of its own) leaves the terminal as it was; Ctrl-Z and
 * back work.  One display is open at a time, since a terminal is one thing.
 */
#ifndef TUI_DISPLAY_H
#define TUI_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "render/style.h"

struct error;

struct display_options {
	bool colour;
	bool mouse;
};

/* 0, or -ENOTTY or -ENOTSUP with a sentence that says what to do instead. */
int display_open(const struct display_options *options, struct error *error);
void display_close(void);
/* Restores the terminal, stops the program as Ctrl-Z does, and goes on when it is continued. */
void display_suspend(void);
/* Asks the terminal for its size anew; all is drawn again. */
void display_resize(void);

int display_rows(void);
int display_columns(void);
/* Whether it is known to show characters beyond ASCII, such as blocks. */
bool display_has_blocks(void);

/*
 * Begins an empty page, and shows it; only what changed is written.  In between:
 *
 * display_put() writes text at a place, at most `width` columns, and returns how many it took.  The
 * text must be printable (text_append_escaped()).  One that is too wide is cut: at the end, or in its
 * middle with display_put_name().
 */
void display_begin(void);
void display_end(void);
int display_put(int row, int column, int width, enum style style, bool is_marked, const char *text);
int display_put_name(int row, int column, int width, bool is_marked, const char *text);
void display_fill(int row, int column, bool is_marked);
void display_cursor(int row, int column); /* column -1: none is shown */

enum input_kind {
	INPUT_NONE,
	INPUT_KEY,     /* code */
	INPUT_SPECIAL, /* code, of curses */
	INPUT_CLICK,   /* row, column */
	INPUT_WHEEL,   /* code: 1 down, 0 up */
	INPUT_END,     /* the terminal is gone */
};

struct input {
	enum input_kind kind;
	wint_t code;
	int row, column;
};

/* The next input that is there already; never waits for more than the rest of an escape sequence. */
struct input display_read(void);

#endif
