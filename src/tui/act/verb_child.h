/* SPDX-License-Identifier: MIT */
/*
 * Another verb that runs as a child, our own program with arguments and no shell, so that the screen
 * goes on meanwhile and nothing that the verb does can harm it.  What it prints becomes lines of a page,
 * escaped and bounded.
 */
#ifndef TUI_VERB_CHILD_H
#define TUI_VERB_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"
#include "base/text.h"

#define VERB_FILES_MOST 2

struct text_page;
struct top;

/* All zeros is a child that does not run. */
struct verb_child {
	struct top *top;
	struct text_page *page; /* that its lines are added to; NULL: nobody reads them any more */
	void (*ended)(struct verb_child *child, bool is_done); /* NULL: nothing is to be done */
	struct loop_fd output, end;			       /* its pipe, and a pidfd */
	pid_t pid;					       /* 0: none */
	uint64_t begin_ns;
	struct text line; /* what has no end yet */
	bool was_ended;	  /* by us */
};

struct verb_run {
	const char *title, *made;
	const char *shows;	    /* the line to show first, once it is there; NULL: none */
	const char *const *words;   /* after the program's name, NULL at the end */
	int files[VERB_FILES_MOST]; /* that it reads as /dev/fd/3 and 4 */
	int file_count;
};

/* One that does not run.  0 or a negative errno. */
int verb_child_start(struct verb_child *child, struct top *top, const struct verb_run *run);
/* Asks it to end, if it runs. */
void verb_child_end(struct verb_child *child);
/* Ends it, waits for that, and frees what it has. */
void verb_child_close(struct verb_child *child);

#endif
