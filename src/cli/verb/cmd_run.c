/* SPDX-License-Identifier: MIT */
/*
 * run: watches a command and all that it starts, from its first instruction to
 * its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/args/session_args.h"
#include "cli/parts/job/run_job.h"
#include "model/tree/run.h"
#include "session/session.h"

static struct {
	struct session_args session;
	bool wait_all;
	const char *job, *step, *store, *socket;
} args;

static const struct option options[] = {
	SESSION_OPTIONS(args.session,
			"end the command after this time: TERM, KILL 5 s later; exit 124"),
	{ 0, "wait-all", OPTION_FLAG, &args.wait_all, NULL,
	  "also wait for processes that outlive the command", NULL },
	{ 0, "job", OPTION_TEXT, &args.job, "JOB",
	  "it is a job of this name, or a step of the one that runs", NULL },
	{ 0, "step", OPTION_TEXT, &args.step, "STEP", "it is this step of the job", NULL },
	{ 0, "store", OPTION_TEXT, &args.store, "FILE", "the recording that keeps the job", NULL },
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE",
	  "the socket of the recorder that keeps it", NULL },
	{ 0 },
};

/*
 * Where -o writes to standard output, that is not the command's: what the command prints goes to
 * standard error.  Returns a copy of standard output, or -1 when there is none.
 */
static int keep_output(struct session_options *session)
{
	int own = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (own < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return -1;
	if (session->lines == stdout)
		session->lines = fdopen(own, "w");
	return own;
}

/* What is wrong with the options is said before anything starts. */
static int prepare_job(struct run_job *job, struct session_options *session, struct error *error)
{
	if (!args.job && (args.step || args.store || args.socket))
		return error_set(error, -EINVAL, "--%s is for --job",
				 args.step  ? "step" :
				 args.store ? "store" :
					      "socket");
	if (!args.job)
		return 0;
	session->keeps_host = true;
	job->name = args.job;
	job->step = args.step;
	job->place.store = args.store;
	job->place.socket = args.socket;
	return run_job_check(job, error);
}

int verb_run(char **words, int count, struct error *error)
{
	CLEANUP(run_free_pointer) struct run *watched = NULL;
	CLEANUP(session_args_close) struct session_options session = { 0 };
	struct error job_error = { 0 };
	struct run_job job = { 0 };
	int own_output = -1, status;

	if (count == 0)
		return error_set(error, -EINVAL, "run needs a command: taskscope run -- COMMAND");
	status = session_args_open(&args.session, &session, error);
	if (status < 0)
		return status;
	status = prepare_job(&job, &session, error);
	if (status < 0)
		return status;
	session.wait_all = args.wait_all;
	if (args.job)
		(void)run_job_begin(&job, words, &job_error);
	if (session_args_print(&args.session))
		own_output = keep_output(&session);
	status = session_run(&session, words, &watched, error);
	if (own_output >= 0)
		dup2(own_output, STDOUT_FILENO);
	if (own_output >= 0 && (!session.lines || fileno(session.lines) != own_output))
		close(own_output);
	(void)run_job_end(&job, watched, status, &job_error);
	if (watched) {
		(void)session_args_save(&args.session, watched, error);
		(void)session_args_report(&args.session, watched, error);
	}
	if (job_error.message[0] && !error->message[0])
		error_set(error, -EIO, "the job is not kept: %s", job_error.message);
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
		"on. Options after the first word are the command's. With -o - JSON lines go to\n"
		"standard output, and what the command prints there goes to standard error.\n"
		"\n"
		"Stacks say where in the code the time went: -F times a second of each thread\n"
		"that computes, and of its waits, the long ones always and short ones in part.\n"
		"Programs need no frame pointers. What was not captured is shown as such.\n"
		"\n"
		"With --job the run is a job: what it used, its verdict and the whole run go to\n"
		"the recorder whose socket you may use, else to your own store, and its outcome\n"
		"is the exit status. While a job of yours of that name runs, the run is a step\n"
		"of it. `taskscope jobs` lists jobs, `taskscope report JOB` shows one. If the job\n"
		"cannot be kept, a sentence says so, and the command keeps its status.\n"
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
		"taskscope run --job nightly --step 3 -- ./job.sh\tkeep it, and its outcome\n"
		"taskscope run -d 60s -- ./server\ta minute of it, then TERM\n"
		"taskscope run --no-syscalls -- ./busy\tas little in its way as possible",
	.exits = "N\tthe command's own status\n"
		 "128+N\tsignal N ended the command\n"
		 "124\t-d ended it\n"
		 "125\ttaskscope failed before the command ran: one sentence says why\n"
		 "126\tthe command cannot be executed\n"
		 "127\tthe command is not found",
	.options = options,
	.words_max = INT_MAX,
	.words_are_a_command = true,
	.error_status = SESSION_FAILED,
};
