/* SPDX-License-Identifier: MIT */
/*
 * This room has what verbs read, judge or print that takes more than the verb's own file.
 *
 * Here: how `taskscope activity` prints what it summed.
 */
#ifndef CLI_ACTIVITY_PRINT_H
#define CLI_ACTIVITY_PRINT_H

#include "cli/args/view_args.h"
#include "store/history/history_activity.h"

struct error;

struct activity_view {
	const struct activity_query *query;
	struct activity_totals totals;
	enum view_format format;
	const char *lacks;     /* what the recorder said of activity; NULL: nothing */
	const char *no_stacks; /* why there are no stacks; NULL: there are */
};

/* Reads the groups and prints all.  0, or a negative errno with a sentence. */
int activity_print(struct history *history, const struct activity_view *view, struct error *error);

#endif
