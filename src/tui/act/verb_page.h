/* SPDX-License-Identifier: MIT */
/*
 * This room acts: it sends signals, saves and compares moments, and has other verbs answer in the
 * screen (verb_child.h).  A page fills with what a verb prints; leaving the page ends the verb.
 */
#ifndef TUI_VERB_PAGE_H
#define TUI_VERB_PAGE_H

#include "tui/act/verb_child.h"

/* All zeros is a page that nobody asked for. */
struct verb_page {
	struct verb_child child;
	struct text title;
	char *made; /* a file that it writes; NULL: none */
	const char *shows;
};

/* Opens a page that fills with what it prints.  Says why when it cannot. */
void verb_page_open(struct top *top, const struct verb_run *run);
/* Ends the child, if one runs. */
void verb_page_leave(struct top *top);
/* The same, and waits for its end. */
void verb_page_close(struct top *top);
/* The page's first line: what runs, and since when. */
void verb_page_title(const struct top *top, struct text *out);

#endif
