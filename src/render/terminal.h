/* SPDX-License-Identifier: MIT */
/*
 * Whether text goes to a person's terminal, and what the terminal can show.
 */
#ifndef RENDER_TERMINAL_H
#define RENDER_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct terminal {
	bool colour;  /* escapes may be written: a terminal that is not dumb, NO_COLOR is not set,
		       * or terminal_choose_colour() said so */
	size_t width; /* columns; 0 when there is no terminal and no COLUMNS: nothing is cut */
};

struct terminal terminal_of(FILE *out);

/* Decides it for all terminals from now on: "always" or "never"; "auto" and NULL leave it to them. */
void terminal_choose_colour(const char *when);

#endif
