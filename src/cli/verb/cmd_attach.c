/* SPDX-License-Identifier: MIT */
/*
 * attach: watches running processes, and all that they start, for a while.
 */
#include <errno.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "cli/command.h"
#include "cli/args/pid_list.h"
#include "cli/args/session_args.h"
#include "model/tree/run.h"
#include "session/session.h"

static struct {
	struct session_args session;
	const char *pids;
	bool since_start;
} args;

static const struct option options[] = {
	{ 'p', "pid", OPTION_TEXT, &args.pids, "PIDS", "the processes, e.g. 12,345", NULL },
	SESSION_OPTIONS(args.session, "detach after this time"),
	{ 0, "since-process-start", OPTION_FLAG, &args.since_start, NULL,
	  "count from the start of each process, where the kernel does; waits and system calls are absent",
	  NULL },
	{ 0 },
};

int verb_attach(char **words, int count, struct error *error)
{
	CLEANUP(pid_list_free) struct pid_list list = { 0 };
	CLEANUP(run_free_pointer) struct run *watched = NULL;
	CLEANUP(session_args_close) struct session_options session = { 0 };
	int status = pid_list_read(&list, args.pids, words, count, error);

	if (status == 0 && list.pids.count == 0)
		status = error_set(error, -EINVAL, "attach needs a process: -p PID");
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
	.arguments = "[PID...]",
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
		"The report goes to standard error, files to -o FILE, and with -o - JSON lines to\n"
		"standard output.",
	.examples =
		"taskscope attach -p 1234 -d 30s\thalf a minute of it\n"
		"taskscope attach -p 1234 -d 1s --since-process-start\twhat it used since it began\n"
		"taskscope attach -p 1234 -o out.tscope\tuntil Ctrl-C, with everything in a file",
	.options = options,
	.words_max = 64,
};
