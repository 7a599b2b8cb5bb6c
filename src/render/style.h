/* SPDX-License-Identifier: MIT */
/*
 * What a piece of text means, shown by colour where the terminal has it.  All that is shown can be
 * read without it, too.
 */
#ifndef RENDER_STYLE_H
#define RENDER_STYLE_H

#include <stdbool.h>
#include <stdio.h>

enum style {
	STYLE_PLAIN,
	STYLE_HEADING, /* and what answers the question: the verdict, the digest */
	STYLE_TITLES,  /* of a table's columns */
	STYLE_MORE,
	STYLE_LESS,
	STYLE_GOOD,
	STYLE_WARNING,
	STYLE_BAD,
};

/* The escape sequences around the text; "" without colour. */
const char *style_on(bool colour, enum style style);
const char *style_off(bool colour, enum style style);

/* A whole line in that style; adds the newline. */
void style_line(FILE *out, bool colour, enum style style, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
