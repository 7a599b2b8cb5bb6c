/* SPDX-License-Identifier: MIT */
/*
 * What other verbs say about the process whose detail is shown: where its time goes and its stacks, its
 * system calls; of a recording what its threads did.  They are asked when the detail opens, and again while
 * it is open; the screen does not wait for them (tui/act/verb_child.h).  Nobody is stopped.
 */
#ifndef TUI_ASKED_H
#define TUI_ASKED_H

#include <stdint.h>

#include "tui/act/verb_child.h"
#include "tui/screen/text_page.h"

struct process;
struct top;

#define ASKED_COUNT 4

/* All zeros is one that was not asked. */
struct asked {
	struct verb_child child;
	struct text_page said, next; /* the last answer, and the one that comes */
	uint64_t said_unix_ns;	     /* the moment that it is about; 0: there is no answer yet */
	uint64_t ended_ns, of_unix_ns;
};

/* Another process is shown: what was said of the one before is forgotten. */
void asked_begin(struct top *top);
/* Adds what was said to the page, and asks what is due. */
void asked_add(struct top *top, const struct process *process);
/* Ends what runs, when the detail is left. */
void asked_leave(struct top *top);
void asked_close(struct top *top);

#endif
