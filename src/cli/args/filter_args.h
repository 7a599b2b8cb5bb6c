/* SPDX-License-Identifier: MIT */
/*
 * The options that say which tasks are meant, for every verb: --filter, and its shorthands.
 *
 *	static struct filter_args tasks;
 *	static const struct option options[] = {
 *		TASK_OPTIONS(tasks),
 *		{ 0 },
 *	};
 */
#ifndef CLI_FILTER_ARGS_H
#define CLI_FILTER_ARGS_H

#include <stdbool.h>

#include "cli/args/view_args.h"
#include "cli/option.h"

struct error;
struct filter;

struct filter_args {
	const char *pids, *cgroup, *user;
	struct option_list filters;
};

/* clang-format off */
#define FILTER_OPTION(args)                                                                        \
	{ 0, "filter", OPTION_LIST, &(args).filters, "FILTER", "only tasks that match, e.g. 'pcomm=nginx* rss_bytes>1G'; see `taskscope help filter`", filter_words }
#define TASK_OPTIONS(args)                                                                         \
	{ 'p', "pid", OPTION_TEXT, &(args).pids, "PIDS", "only these processes, by number or name, e.g. 12,nginx", NULL }, \
	{ 'c', "cgroup", OPTION_TEXT, &(args).cgroup, "PATH", "only tasks in this cgroup and below", NULL }, \
	{ 'u', "user", OPTION_TEXT, &(args).user, "LIST", "only tasks of these users, by name or number", NULL }, \
	FILTER_OPTION(args)
/* clang-format on */

/* Whether any of them was given, and whether any but -p was. */
bool filter_args_given(const struct filter_args *args);
bool filter_args_beyond_pids(const struct filter_args *args);

/*
 * The filter that all of them are together; the caller clears it in either case.  0, or an error
 * with a sentence.
 */
int filter_args_read(const struct filter_args *args, struct filter *ret, struct error *error);
/* The same without what a capture does itself: -p and -c. */
int filter_args_live(const struct filter_args *args, struct filter *ret, struct error *error);

#endif
