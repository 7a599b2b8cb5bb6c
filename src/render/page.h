/* SPDX-License-Identifier: MIT */
/*
 * Prints text for people to a terminal: lines that are too wide are broken
 * between words.
 *
 *	struct page page;
 *	page_open(&page, stdout);
 *	fprintf(page.out, ...);
 *	page_close(&page);
 *
 * When the output is not a terminal, everything is printed unchanged.
 */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "render/terminal.h"

struct page {
	FILE *out; /* to print to */
	FILE *to;  /* where it goes */
	struct terminal terminal;
	char *bytes;
	size_t length;
};

void page_open(struct page *page, FILE *to);
/* The same with the width of a terminal other than the output. */
void page_open_for(struct page *page, struct terminal terminal, FILE *to);

/* Where to break a line so that it takes at most `width` columns: at a blank, if there is one. */
size_t page_break(const char *line, size_t length, size_t width);

/* Returns 0, or -ENOMEM when memory ran out. */
int page_close(struct page *page);

#endif
