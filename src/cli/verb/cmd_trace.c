/* SPDX-License-Identifier: MIT */
/*
 * trace: the system calls of processes, summed or one by one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/args/pid_list.h"
#include "cli/args/view_args.h"
#include "cli/parts/call_summary_print.h"
#include "host/host.h"
#include "session/calls/call_summary.h"

static struct {
	const char *pids;
	bool summary;
	struct option_number duration;
	struct view_args view;
} args;

static const struct option options[] = {
	{ 'p', "pid", OPTION_TEXT, &args.pids, "PID", "these processes, by number or name", NULL },
	{ 0, "summary", OPTION_FLAG, &args.summary, NULL,
	  "sum the calls, from the kernel, and stop nobody", NULL },
	{ 'd', "duration", OPTION_DURATION, &args.duration, "TIME",
	  "end after this time (default: Ctrl-C, or the end of the processes)", NULL },
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
	return 0;
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
	return summarize(host, &list, error);
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
		"before it was watched. Needs CAP_BPF and CAP_PERFMON, or root.",
	.examples =
		"taskscope trace --summary -p 1234 -d 5s\twhat it did with system calls for 5 seconds",
	.options = options,
	.words_max = 64,
};
