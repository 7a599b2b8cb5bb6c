/* SPDX-License-Identifier: MIT */
/*
 * The options that run and attach share, and how they report what they watched.
 *
 *	static struct session_args session_args;
 *	static const struct option options[] = {
 *		SESSION_OPTIONS(session_args, "detach after this time"),
 *		{ 0 },
 *	};
 */
#ifndef CLI_SESSION_ARGS_H
#define CLI_SESSION_ARGS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/option.h"
#include "cli/args/view_args.h"

struct error;
struct run;
struct session_options;

struct session_args {
	struct option_list outputs;
	struct option_number interval;
	struct option_number duration;
	bool quiet;
	bool verbose;
	bool no_syscalls;
	bool no_critical_path;
	bool exclude_children;
	bool hardware_counters;
	bool gpu;
	bool no_stacks;
	struct option_number frequency;
	struct option_number off_cpu_min;
	const char *source;
};

/* clang-format off */
#define SESSION_OPTIONS(args, duration_help)                                                       \
	{ 'o', "output", OPTION_LIST, &(args).outputs, "FILE", "write it to a .tscope file, as JSON lines (.jsonl), as a page for a browser (.html), as folded stacks (.folded) or for pprof (.pb.gz); give one -o for each; - is JSON lines on standard output, -.folded folded stacks there", NULL }, \
	{ 'i', "interval", OPTION_DURATION, &(args).interval, "TIME", "shortest time between samples; 100ms, and longer while nothing changes", NULL }, \
	{ 'd', "duration", OPTION_DURATION, &(args).duration, "TIME", duration_help, NULL },        \
	{ 'q', "quiet", OPTION_FLAG, &(args).quiet, NULL, "no live line and no report", NULL },      \
	VERBOSE_OPTION(args, REPORT_VERBOSE_HELP),                                                  \
	{ 0, "no-syscalls", OPTION_FLAG, &(args).no_syscalls, NULL, "do not count system calls (lower overhead)", NULL }, \
	{ 0, "no-critical-path", OPTION_FLAG, &(args).no_critical_path, NULL, "do not record each wait: no critical path, no wakers", NULL }, \
	{ 0, "exclude-children", OPTION_FLAG, &(args).exclude_children, NULL, "count only the processes themselves, not those that they start", NULL }, \
	{ 0, "hardware-counters", OPTION_FLAG, &(args).hardware_counters, NULL, "count cycles, instructions, cache and branch misses; each context switch takes longer", NULL }, \
	{ 0, "gpu", OPTION_FLAG, &(args).gpu, NULL, "also ask about GPUs, and what the processes use of them", NULL }, \
	{ 'F', "frequency", OPTION_NUMBER, &(args).frequency, "HZ", "stacks a second of each thread that computes (default: 99)", NULL }, \
	{ 0, "off-cpu-min", OPTION_DURATION, &(args).off_cpu_min, "TIME", "take a stack of every wait that lasts so long, and of some that are shorter (default: 1ms)", NULL }, \
	{ 0, "no-stacks", OPTION_FLAG, &(args).no_stacks, NULL, "do not look where in the code the time goes", NULL }, \
	{ 0, "source", OPTION_TEXT, &(args).source, "WAY", "how processes are followed", "bpf|connector|procfs" }
/* clang-format on */

/*
 * Fills in the session's options and opens its output, which the caller closes
 * with session_args_close().  0, or an error with a sentence.
 */
int session_args_open(const struct session_args *args, struct session_options *ret,
		      struct error *error);
/* Whether an output is standard output. */
bool session_args_print(const struct session_args *args);
void session_args_close(struct session_options *options);

/*
 * Writes the files that -o names, but those that were written line by line.  One that fails does
 * not stop the others.  0, or a negative errno with a sentence.
 */
int session_args_save(const struct session_args *args, const struct run *run, struct error *error);

/*
 * Prints the report on standard error, unless -q; gives up when nobody reads it
 * for a while.  0, or -ENOMEM with a sentence.
 */
int session_args_report(const struct session_args *args, const struct run *run,
			struct error *error);

#endif
