/* SPDX-License-Identifier: MIT */
/*
 * trace: the system calls of processes, summed or one by one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/command.h"
#include "cli/args/pid_list.h"
#include "cli/args/view_args.h"
#include "cli/parts/calls/call_summary_print.h"
#include "host/host.h"
#include "session/calls/call_summary.h"
#include "session/calls/full_trace.h"
#include "trace/strace/strace.h"

static struct {
	const char *pids, *expression, *output;
	bool summary, quiet;
	struct option_number duration;
	struct view_args view;
} args;

static const struct option options[] = {
	{ 'p', "pid", OPTION_TEXT, &args.pids, "PID", "these processes, by number or name", NULL },
	{ 0, "summary", OPTION_FLAG, &args.summary, NULL,
	  "sum the calls, from the kernel, and stop nobody", NULL },
	{ 'd', "duration", OPTION_DURATION, &args.duration, "TIME",
	  "end after this time (default: Ctrl-C, or the end of the processes)", NULL },
	{ 'e', "expression", OPTION_TEXT, &args.expression, "EXPR",
	  "of a full trace: what strace -e takes, such as openat,close or trace=%network", NULL },
	{ 'o', "output", OPTION_TEXT, &args.output, "FILE", "also write a full trace to this file",
	  NULL },
	{ 'q', "quiet", OPTION_FLAG, &args.quiet, NULL,
	  "with -o: write a full trace to the file only", NULL },
	LIMIT_OPTION(args.view, "of a summary: show N calls, 0 for all"),
	FORMAT_OPTION_WITH(args.view, "how to print a summary", "text|json|csv"),
	{ 0 },
};

static int check(const struct pid_list *list, struct error *error)
{
	if (!list->pids.count)
		return error_set(error, -EINVAL, "trace needs a process: -p PID");
	if (args.duration.given && args.duration.value == 0)
		return error_set(error, -EINVAL, "-d takes a time of more than 0, such as 5s");
	if (args.summary && (args.expression || args.output || args.quiet))
		return error_set(error, -EINVAL,
				 "-e, -o and -q are for a full trace, not --summary");
	if (!args.summary && (args.view.format || args.view.limit.given))
		return error_set(error, -EINVAL, "--format and -n are for --summary");
	if (args.quiet && (!args.output || file_is_standard_output(args.output)))
		return error_set(error, -EINVAL, "-q needs -o FILE: there is no other output");
	return args.expression ? strace_expression_check(args.expression, error) : 0;
}

static int summarize(const struct host *host, const struct pid_list *list, struct error *error)
{
	CLEANUP(call_summary_clear) struct call_summary summary = { 0 };
	int status = call_summary_take(host, list->pids.data, list->pids.count, args.duration.value,
				       &summary, error);

	return status < 0 ? status :
			    call_summary_print(&summary, list->pids.data, list->pids.count,
					       &args.view, error);
}

static void say_left_out(uint64_t lines, const char *where)
{
	if (lines)
		fprintf(stderr,
			"taskscope: %llu lines were left out of %s, which did not take them\n",
			(unsigned long long)lines, where);
}

static int trace(const struct host *host, const struct pid_list *list, struct error *error)
{
	const struct full_trace_options wanted = {
		.pids = list->pids.data,
		.count = list->pids.count,
		.expression = args.expression,
		.file = args.output && !file_is_standard_output(args.output) ? args.output : NULL,
		.duration_ns = args.duration.value,
		.is_quiet = args.quiet,
	};
	struct full_trace_losses losses;
	int status = full_trace_run(host, &wanted, &losses, error);

	say_left_out(losses.shown, "standard output");
	say_left_out(losses.kept, "the file");
	return status;
}

int verb_trace(char **words, int count, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(pid_list_free) struct pid_list list = { 0 };
	int status = host_open(&host, NULL, error);

	if (status == 0)
		status = pid_list_read(&list, host, args.pids, words, count, error);
	if (status == 0)
		status = check(&list, error);
	if (status < 0)
		return status;
	return args.summary ? summarize(host, &list, error) : trace(host, &list, error);
}

const struct command command_trace = {
	.name = "trace",
	.arguments = "[PID|NAME...]",
	.summary = "the system calls of processes, summed or one by one",
	.description =
		"With --summary it sums the system calls of processes, all threads of them: the\n"
		"table of strace -c -w, with wall times, from programs in the kernel. Nobody is\n"
		"stopped, and a call costs about half a microsecond more. Calls that have not\n"
		"returned are under way, with their time so far; \"> 5 s\" is a call that began\n"
		"before it was watched. Needs CAP_BPF and CAP_PERFMON, or root.\n"
		"\n"
		"Without --summary it prints each call of the processes and of all that they\n"
		"start, with strace (-f -tt -T -y) underneath, until -d, Ctrl-C, or their end.\n"
		"strace stops the target at every call: a program that mostly makes calls runs\n"
		"about 100 times slower, which the first line says. The target never waits for the\n"
		"reader of the trace: lines that are not taken in time are left out, and a line\n"
		"says how many. Expressions that would change what the target does, such as\n"
		"inject=, are refused. When taskscope ends, in whatever way, strace ends too, and\n"
		"the target goes on.",
	.examples =
		"taskscope trace --summary -p 1234 -d 5s\twhat it did with system calls for 5 seconds\n"
		"taskscope trace -p 1234 -d 10s -o t/trace.txt\teach call, here and in a file\n"
		"taskscope trace -p 1234 -e openat,close\tonly these calls",
	.options = options,
	.words_max = 64,
};
