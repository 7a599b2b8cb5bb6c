/* SPDX-License-Identifier: MIT */
/*
 * The options that say what to capture, for every verb that captures.
 *
 *	static struct capture_args capture_args;
 *	static const struct option options[] = {
 *		CAPTURE_OPTIONS(capture_args),
 *		{ 0 },
 *	};
 */
#ifndef CLI_CAPTURE_ARGS_H
#define CLI_CAPTURE_ARGS_H

#include <stdbool.h>

#include "analyze/filter/filter.h"
#include "cli/args/filter_args.h"
#include "cli/args/pid_list.h"
#include "cli/args/view_args.h"

struct error;
struct host;
struct sampling;
struct snapshot;

struct capture_args {
	struct filter_args tasks;
	const char *source;
	const char *without;
	const char *root;
	bool no_cmdline;
	bool no_jemalloc_oracle;
	bool smaps;
	bool gpu;
};

/* clang-format off */
#define CAPTURE_OPTIONS(args)                                                                      \
	TASK_OPTIONS((args).tasks), \
	{ 0, "source", OPTION_TEXT, &(args).source, "WAY", "how tasks are listed", "auto|bpf|procfs" }, \
	{ 0, "without", OPTION_NAMES, &(args).without, "LIST", "sources to leave out, as doctor names them", source_words }, \
	{ 0, "no-cmdline", OPTION_FLAG, &(args).no_cmdline, NULL, "do not read command lines", NULL }, \
	{ 0, "no-jemalloc-oracle", OPTION_FLAG, &(args).no_jemalloc_oracle, NULL, "do not run a target's jemalloc, be it root's or yours, to learn where its counters are", NULL }, \
	{ 0, "smaps", OPTION_FLAG, &(args).smaps, NULL, "also read PSS, USS and swap of each process, which is slow", NULL }, \
	{ 0, "gpu", OPTION_FLAG, &(args).gpu, NULL, "also ask about GPUs, and what processes use of them", NULL }, \
	{ 0, "root", OPTION_TEXT, &(args).root, "DIR", "read a recorded tree instead of this host", NULL }
/* clang-format on */

/* Whether any of them was given but those that say which tasks. */
bool capture_args_given(const struct capture_args *args);

/* A sampling as the options describe it, with everything that it borrows. */
struct capture_input {
	struct host *host;
	struct pid_list list;
	struct sampling *sampling;
	struct filter filter; /* what is left to do once a snapshot was taken */
};

/* Returns 0 or an error with a sentence; close it in either case. */
int capture_input_open(struct capture_input *input, const struct capture_args *args,
		       struct error *error);
void capture_input_close(struct capture_input *input); /* all zeros is allowed */

/* Captures once, and leaves only the tasks that the options name.  Returns 0 and a snapshot to free, or an error with a sentence. */
int capture_args_take(const struct capture_args *args, struct snapshot **ret, struct error *error);

#endif
