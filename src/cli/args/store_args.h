/* SPDX-License-Identifier: MIT */
/*
 * The options of verbs that read a recording: which one, and of which time.
 */
#ifndef CLI_STORE_ARGS_H
#define CLI_STORE_ARGS_H

#include <limits.h>

#include "cli/option.h"
#include "cli/args/view_args.h"
#include "store/history/history.h"

struct error;

struct store_args {
	const char *store;
	struct option_number since;
};

/* clang-format off */
#define STORE_OPTION(args)                                                                         \
	{ 0, "store", OPTION_TEXT, &(args).store, "FILE", "the recording (default: that of `taskscope record`)", NULL }
#define SINCE_OPTION(args, help)                                                                   \
	{ 0, "since", OPTION_DURATION, &(args).since, "TIME", help, NULL }
/* clang-format on */

/* Refuses "-", since a recording is a database: 0, or -EINVAL with a sentence. */
int store_args_check(const char *path, struct error *error);
/* The path: the one that was given, or the default.  0, or -ENOENT with a sentence. */
int store_args_path(const struct store_args *args, char ret[PATH_MAX], struct error *error);
/* 0, or a negative errno with a sentence. */
int store_args_open(const struct store_args *args, struct history **ret, struct error *error);
/*
 * The last part of the recording, as long as `since` says, or `fallback_ns` (0: all of it): it counts from
 * the end of the recording, as @-5m does, which for one that is being written is about now.
 */
struct history_span store_args_span(const struct store_args *args, struct history *history,
				    uint64_t fallback_ns);

/*
 * How rows are printed, for verbs that print one kind: a table for people, CSV, or an array of JSON
 * objects under a key.
 */
struct json;
struct row_output {
	enum view_format format;
	struct table *table;
	struct json *json;
};

/* Begins the output of a table whose columns are set; then rows go to `table` or `json`. */
void row_output_begin(struct row_output *output, const char *key);
/* Prints what is left.  0, or a negative errno with a sentence. */
int row_output_end(struct row_output *output, const char *nothing, struct error *error);

#endif
