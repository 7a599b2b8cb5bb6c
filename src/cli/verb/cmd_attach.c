/* SPDX-License-Identifier: MIT */
/*
 * attach: watches running processes, and all that they start, for a while.
 */
#include <errno.h>
#include <stdio.h>

#include "analyze/filter/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/args/filter_args.h"
#include "cli/args/pid_list.h"
#include "cli/args/session_args.h"
#include "cli/parts/find_processes.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "session/attachable.h"
#include "session/session.h"

static struct {
	struct session_args session;
	struct filter_args tasks;
	bool since_start;
} args;

static const struct option options[] = {
	TASK_OPTIONS(args.tasks),
	SESSION_OPTIONS(args.session, "detach after this time"),
	{ 0, "since-process-start", OPTION_FLAG, &args.since_start, NULL,
	  "count from the start of each process, where the kernel does; waits and system calls are absent",
	  NULL },
	{ 0 },
};

/* Leaves out what cannot be attached to, such as kernel threads, and says so. */
static int leave_attachable(const struct host *host, struct pid_list *list, struct error *error)
{
	size_t kept = 0, found = list->pids.count;
	struct error first = { 0 };

	for (size_t i = 0; i < found; i++)
		if (process_attachable(host, list->pids.data[i], &first) == 0)
			list->pids.data[kept++] = list->pids.data[i];
	list->pids.count = kept;
	if (kept == 0)
		return error_set(error, -EINVAL, "%s", first.message);
	if (kept < found && !args.session.quiet)
		fprintf(stderr, "left out %zu of %zu matching processes: %s\n", found - kept, found,
			first.message);
	return 0;
}

/* The processes that match now. */
static int find_matches(const struct host *host, struct pid_list *list, struct error *error)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	int status = filter_args_read(&args.tasks, &filter, error);

	if (status == 0)
		status = find_processes(host, &filter, &found, error);
	if (status == 0)
		status = pid_list_take(list, found, error);
	return status < 0 ? status : leave_attachable(host, list, error);
}

static int choose(struct pid_list *list, char **words, int count, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	bool has_filter = filter_args_beyond_pids(&args.tasks);
	int status = host_open(&host, NULL, error);

	if (status < 0)
		return status;
	if (has_filter && count)
		return error_set(error, -EINVAL,
				 "with a filter processes are given by -p, not as words");
	if (has_filter)
		return find_matches(host, list, error);
	status = pid_list_read(list, host, args.tasks.pids, words, count, error);
	if (status == 0 && list->pids.count == 0)
		return error_set(error, -EINVAL, "attach needs a process: -p PID or NAME");
	return status;
}

int verb_attach(char **words, int count, struct error *error)
{
	CLEANUP(pid_list_free) struct pid_list list = { 0 };
	CLEANUP(run_free_pointer) struct run *watched = NULL;
	CLEANUP(session_args_close) struct session_options session = { 0 };
	int status = choose(&list, words, count, error);

	if (status == 0)
		status = session_args_open(&args.session, &session, error);
	session.since_start = args.since_start;
	if (status == 0)
		status = session_attach(&session, list.pids.data, list.pids.count, &watched, error);
	if (watched) {
		int saved = session_args_save(&args.session, watched, error);
		int reported = session_args_report(&args.session, watched, error);

		status = status < 0 ? status : saved < 0 ? saved : reported;
	}
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.arguments = "[PID|NAME...]",
	.summary = "watch running processes and all that they start",
	.description =
		"Watches processes that run already, with their descendants, like `taskscope\n"
		"run` does a command: until they end, -d is over, or an interrupt (Ctrl-C) says\n"
		"to detach. They are never touched; counting begins when taskscope attaches, or,\n"
		"with --since-process-start, when each process began: then what nobody counted\n"
		"before, such as waits and system calls, is absent. Of threads that had ended by\n"
		"then the kernel keeps CPU time, page faults and, in one sum with waited-for\n"
		"children, I/O. Of programs that use libtaskscope the report also lists the\n"
		"scopes, with their time.\n"
		"\n"
		"A name stands for all processes that are called so. With --filter, -c or -u it\n"
		"attaches to all processes that match when it starts, and follows all that they\n"
		"start. taskscope itself and what it was started from never match.\n"
		"\n"
		"The report goes to standard error, files to -o FILE, and with -o - JSON lines to\n"
		"standard output.",
	.examples =
		"taskscope attach -p 1234 -d 30s\thalf a minute of it\n"
		"taskscope attach nginx -d 30s\tthe same of all processes of that name\n"
		"taskscope attach --filter 'user=www rss_bytes>1G' -d 30s\tof those that match\n"
		"taskscope attach -p 1234 -d 1s --since-process-start\twhat it used since it began\n"
		"taskscope attach -p 1234 -o out.tscope\tuntil Ctrl-C, with everything in a file",
	.options = options,
	.words_max = 64,
};
