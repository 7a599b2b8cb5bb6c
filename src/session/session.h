/* SPDX-License-Identifier: MIT */
/*
 * Watches a tree of processes: a command that it starts (run), or processes that already run
 * (attach).
 *
 * The session owns the loop: it drains the tracer, takes samples on absolute deadlines within its
 * budget, writes JSON lines as things happen and draws the live line.  It does not touch the
 * command's stdin, stdout, stderr, terminal, signals and exit status.
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
	bool no_critical_path;
	bool exclude_children; /* only the processes themselves count */
	bool since_start;      /* of attach: counters begin with the process */
	bool hardware_counters;
	bool gpu;
	bool no_stacks;		     /* neither of these then means anything: */
	uint64_t stack_frequency_hz; /* stacks a second of a thread that computes */
	uint64_t off_cpu_min_ns;     /* a block that lasts so long always has a stack */
	bool wait_all;		     /* wait also for members that outlive the command */
	bool no_deadlocks;	     /* do not search for them: the caller does */
	bool quiet;		     /* no live line */
	uint64_t interval_ns;	     /* shortest time between samples; 0: the default, adaptive */
	uint64_t duration_ns;	     /* 0: no limit */
	bool keeps_host;	     /* fill in `host` of struct run */
	const char *
		stacks_file; /* will be written if there are stacks: else nothing is started; NULL */
	FILE *lines;	     /* JSON lines go here; NULL: nowhere */
	int live_fd;	     /* the terminal for the live line, or -1 */
};

/* What session_run() returns besides the command's own status. */
enum {
	SESSION_TIMED_OUT = 124,
	SESSION_FAILED = 125,
	SESSION_CANNOT_EXEC = 126,
	SESSION_NOT_FOUND = 127,
};

/*
 * Runs `command` and returns the status to exit with: the command's, 128+N when signal N ended it,
 * or one of the above.  The last three mean that the command never ran, and `error` says why.  A
 * command that ran keeps its status whatever else fails, such as writing lines; `error` then has a
 * sentence about it.  *ret is the complete run; it is not changed when there is none.
 *
 * SIGINT, SIGQUIT, SIGTERM and SIGHUP stay blocked afterwards, so that an interrupt meant for the
 * command does not prevent the report.
 */
int session_run(const struct session_options *options, char **command, struct run **ret,
		struct error *error);

/*
 * Attaches to running processes until they end, the time is over, or a signal (SIGINT, SIGQUIT,
 * SIGTERM, SIGHUP) asks to detach.  0, or a negative errno with a sentence.  *ret is set on
 * success; it is also set when lines could not be written, or when the processes could not be read
 * any more, which detaches too.
 */
int session_attach(const struct session_options *options, const int32_t *pids, size_t count,
		   struct run **ret, struct error *error);

#endif
