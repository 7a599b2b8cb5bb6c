/* SPDX-License-Identifier: MIT */
/*
 * run: watches a command and all that it starts, from its first instruction to
 * its end.
 */
#include <errno.h>
#include <limits.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/args/session_args.h"
#include "model/tree/run.h"
#include "session/session.h"

static struct {
	struct session_args session;
	bool wait_all;
} args;

static const struct option options[] = {
	SESSION_OPTIONS(args.session,
			"end the command after this time: TERM, KILL 5 s later; exit 124"),
	{ 0, "wait-all", OPTION_FLAG, &args.wait_all, NULL,
	  "also wait for processes that outlive the command", NULL },
	{ 0 },
};

int verb_run(char **words, int count, struct error *error)
{
	CLEANUP(run_free_pointer) struct run *watched = NULL;
	CLEANUP(session_args_close) struct session_options session = { 0 };
	int status;

	if (count == 0)
		return error_set(error, -EINVAL, "run needs a command: taskscope run -- COMMAND");
	status = session_args_open(&args.session, false, &session, error);
	if (status < 0)
		return status;
	session.wait_all = args.wait_all;
	status = session_run(&session, words, &watched, error);
	if (watched) {
		(void)session_args_save(&args.session, watched, error);
		(void)session_args_report(&args.session, watched, error);
	}
	return status;
}

const struct command command_run = {
	.name = "run",
	.arguments = "[--] COMMAND [ARGUMENT...]",
	.summary = "run a command and show where the time of its whole tree went",
	.description =
		"Runs the command and watches it and every process that it starts, from its\n"
		"first instruction on: CPU, memory, I/O, system calls, and what each thread\n"
		"waited for. A terminal shows a live line meanwhile. At the end a report on\n"
		"standard error says what limited it, with the evidence, the critical path, what\n"
		"each program used, which processes failed, where the time went, and in which\n"
		"functions. For programs that use libtaskscope, both also show the scopes with\n"
		"their time; see `taskscope scopes`.\n"
		"\n"
		"Single threads are listed where there are at most 8, several of them in one\n"
		"process; single processes where there are at most 5, several of them of one\n"
		"program. With -v all are, with the longest waits, the system calls, other use\n"
		"and the cost of watching. Lines are as wide as the terminal; elsewhere 80\n"
		"columns, or with -v as wide as they need.\n"
		"\n"
		"The command's standard input, output and error, its terminal, signals and exit\n"
		"status are its own. Ctrl-C goes to the command, and the report still comes;\n"
		"INT, QUIT, TERM, HUP, USR1 and USR2 that others send to taskscope are passed\n"
		"on. Options after the first word are the command's.\n"
		"\n"
		"Stacks say where in the code the time went: -F times a second of each thread\n"
		"that computes, and of its waits, the long ones always and short ones in part.\n"
		"Programs need no frame pointers. What was not captured is shown as such.\n"
		"\n"
		"BPF follows the tree where it may (CAP_BPF and CAP_PERFMON); else the process\n"
		"connector or procfs do, and the report says what they can miss. Processes that\n"
		"outlive the command are listed as running; --wait-all waits for them.",
	.examples =
		"taskscope run -- make -j8\twhere did the time go?\n"
		"taskscope run -v -- make -j8\tby thread, process and system call, too\n"
		"taskscope run -o build.tscope -q -- make -j8\tfor later: show, compare and report read it\n"
		"taskscope run -F 999 -o build.folded -- make -j8\tmore stacks, for a flame graph\n"
		"taskscope run -o build.html -- make -j8\tfor a browser, with timelines and flame graphs\n"
		"taskscope run -d 60s -- ./server\ta minute of it, then TERM\n"
		"taskscope run --no-syscalls -- ./busy\tas little in its way as possible",
	.exits = "the command's own, 128+N when signal N ended it, 124 when -d did, 126 when it\n"
		 "cannot be executed, 127 when it is not found",
	.options = options,
	.words_max = INT_MAX,
	.words_are_a_command = true,
	.error_status = SESSION_FAILED,
};
