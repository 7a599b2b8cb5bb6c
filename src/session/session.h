/* SPDX-License-Identifier: MIT */
/*
 * Watches a tree of processes: a command that is started (run), or processes that run (attach).
 *
 * The session owns the loop: it drains the tracer, takes samples on absolute deadlines within its
 * budget, writes the JSON lines as things happen and draws the live line.  The command's stdin,
 * stdout, stderr, terminal, signals and exit status are its own.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct error;
struct run;

struct session_options {
	const char *source; /* "bpf", "connector", "procfs"; NULL: the best that works */
	bool no_syscalls;
	bool no_wakers;
	bool wait_all;	      /* also for members that outlive the command */
	bool quiet;	      /* no live line */
	uint64_t interval_ns; /* the shortest between samples; 0: the default, adaptive */
	uint64_t duration_ns; /* 0: no limit */
	FILE *lines;	      /* JSON lines go here; NULL: nowhere */
	int live_fd;	      /* the terminal for the live line, or -1 */
};

/* Statuses of session_run() beside the command's own. */
enum {
	SESSION_TIMED_OUT = 124,
	SESSION_FAILED = 125,
	SESSION_CANNOT_EXEC = 126,
	SESSION_NOT_FOUND = 127,
};

/*
 * Runs `command` and returns the status to exit with: the command's, 128+N when signal N ended it,
 * or one of the above, with a sentence in `error` for the last three: the command never ran then.  A
 * command that ran keeps its status whatever fails meanwhile, as lines that could not be written; a
 * sentence says so.  *ret is the settled run; it stays as it is when there is none.
 *
 * SIGINT, SIGQUIT, SIGTERM and SIGHUP stay blocked afterwards, so that an interrupt that was meant
 * for the command does not cost the report.
 */
int session_run(const struct session_options *options, char **command, struct run **ret,
		struct error *error);

/*
 * Attaches to running processes until they end, the time is over, or a signal (SIGINT, SIGQUIT,
 * SIGTERM, SIGHUP) says to detach.  0, or a negative errno with a sentence; *ret is then
 * set, too, if all that failed was lines that could not be written, or that the processes could
 * not be looked at any more, which detaches as well.
 */
int session_attach(const struct session_options *options, const int32_t *pids, size_t count,
		   struct run **ret, struct error *error);

#endif
