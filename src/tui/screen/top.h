/* SPDX-License-Identifier: MIT */
/*
 * This room is the screen of `taskscope top`: moments of a source, painted, and keys.
 */
#ifndef TUI_TOP_H
#define TUI_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/view/moment_view.h"

struct error;
struct host;
struct moment_source;

struct top_options {
	struct moment_source *source;
	struct view_choice choice;
	const char *title;	 /* what is shown: a name of the host, the recording or the file */
	const char *store;	 /* path of the recording that is shown; NULL: none is */
	const struct host *host; /* for signals; NULL: there are no processes to send them to */
	uint64_t interval_ns;
	bool no_mouse;
	bool read_only;
	bool colour;
	/* Keeps what a person chose for the next time; NULL: it is not kept.  A sentence when it fails. */
	int (*save)(const struct view_choice *choice, struct error *error);
	/* The time that a text means, for a source that can move; NULL for others. */
	int (*parse_time)(void *context, const char *text, uint64_t *ret_unix_ns,
			  struct error *error);
	void *parse_context;
};

/* Shows it until a key or a signal ends it.  0, or a negative errno with a sentence. */
int top_run(const struct top_options *options, struct error *error);

#endif
