/* SPDX-License-Identifier: MIT */
/* Lines to read, with a heading in some. */
#ifndef TUI_TEXT_PAGE_H
#define TUI_TEXT_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/collection/array.h"

/* All zeros is empty and valid. */
struct text_page {
	ARRAY_OF(char *) lines;
	size_t first;	/* the line that is the highest on the screen */
	size_t shift;	/* columns that are left of the screen */
	bool is_detail; /* made anew with each moment */
	bool is_verb;	/* what another verb prints: tui/act/verb_page.h */
};

void top_text_clear(struct text_page *page);
/* Adds a line, escaped; one that begins with a blank is no heading. */
void top_text_line(struct text_page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same in as many lines as the screen needs for it; `indent` columns begin each further one. */
void top_text_words(struct text_page *page, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
