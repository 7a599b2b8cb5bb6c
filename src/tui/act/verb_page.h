/* SPDX-License-Identifier: MIT */
/*
 * This room acts: it sends signals, saves and compares moments, and has other verbs answer in the
 * screen.
 *
 * A verb runs as a child, our own program with arguments and no shell, so that the screen goes on
 * meanwhile and nothing that the verb does can harm it.  What it prints becomes a page, escaped and
 * bounded.  Leaving the page ends the child.
 */
#ifndef TUI_VERB_PAGE_H
#define TUI_VERB_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/text.h"

#define VERB_FILES_MOST 2

struct top;

/* All zeros is a child that does not run. */
struct verb_child {
	struct loop_fd output, end; /* its pipe, and a pidfd */
	pid_t pid;		    /* 0: none */
	uint64_t begin_ns;
	struct text line;  /* what has no end yet */
	struct text title; /* of the page */
	char *made;	   /* a file that it writes; NULL: none */
	bool was_ended;	   /* by us */
};

struct verb_run {
	const char *title, *made;
	const char *const *words;   /* after the program's name, NULL at the end */
	int files[VERB_FILES_MOST]; /* that it reads as /dev/fd/3 and 4 */
	int file_count;
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
