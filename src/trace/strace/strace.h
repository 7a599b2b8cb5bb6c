/* SPDX-License-Identifier: MIT */
/*
 * This room runs strace on processes that already run, for what only it can tell.
 *
 *	strace_program.c	finds strace where root alone can have put it
 *	strace_target.c		whether a process can be traced, and sentences for when it cannot
 *	strace_child.c		one strace: started, always drained, ended within a time limit
 *	strace_expression.c	refuses -e that would change what the target does
 *	strace_summary.c	reads the table of strace -c
 *
 * strace stops each thread at each call.  So nobody may leave what it writes unread: a full pipe
 * stops strace, and with it its targets.  When we die, the kernel ends strace, and the targets go on.
 */
#ifndef TRACE_STRACE_H
#define TRACE_STRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"

struct call_lines;
struct error;
struct host;

#define STRACE_MESSAGE 256

/* A descriptor of the program, to be executed; or -ENOENT with the sentence that it is not installed. */
int strace_program_open(struct error *error);

/*
 * Looks at a process before strace does: 0; -ESRCH: it is gone; -EBUSY: somebody traces it already.
 * The sentence says who.
 */
int strace_target_check(const struct host *host, int32_t pid, struct error *error);
/* The process that traces the first thread of this one; 0: nobody. */
int32_t strace_tracer_of(const struct host *host, int32_t pid);
/* What a message of strace means for its target: -EPERM, -ESRCH, -EBUSY or -EIO, with a sentence. */
int strace_target_explain(const struct host *host, int32_t pid, const char *message,
			  struct error *error);

/* Refuses an expression that changes what the target does, and those that are not known.  0 or -EINVAL. */
int strace_expression_check(const char *expression, struct error *error);

/* The columns that strace_summary_parse() wants; it also reads those that strace shows by itself. */
#define STRACE_SUMMARY_COLUMNS "total-time,max-time,calls,errors,name"

/* Adds the rows of the tables in a text, behind which is a NUL.  Returns how many lines were not understood, or -ENOMEM. */
ssize_t strace_summary_parse(const char *text, size_t length, struct call_lines *lines);

struct strace_child;
/* Takes what strace writes: its trace or summary. */
typedef void strace_output(void *context, const char *bytes, size_t length);
/* It has ended, and all that it wrote was taken. */
typedef void strace_ended(void *context, struct strace_child *child);

struct strace_child {
	struct loop *loop;
	pid_t pid; /* 0: none */
	int pidfd, output, messages;
	struct loop_fd output_ready, messages_ready, ended;
	struct loop_timer kill_due;
	strace_output *take;
	strace_ended *done;
	void *context;
	char line[STRACE_MESSAGE]; /* of its messages, while it is read */
	size_t line_length;
	char refusal
		[STRACE_MESSAGE]; /* why it could not attach, if it has ended with an error; or "" */
	bool is_stopping, was_killed; /* by us */
	int status;		      /* as wait() has it, once it has ended */
};

struct strace_request {
	int program;		    /* of strace_program_open() */
	const char *const *options; /* ends with NULL; "-o" is not one of them */
	const int32_t *pids;
	size_t pid_count;
};

/* 0, or a negative errno with a sentence. */
int strace_child_start(struct strace_child *child, struct loop *loop,
		       const struct strace_request *request, strace_output *take,
		       strace_ended *done, void *context, struct error *error);
/* Asks it to let its targets go and to end; after a time limit it is killed. */
void strace_child_stop(struct strace_child *child);
/*
 * Stops it, waits until it has ended, or kills it when the time limit of the stop is over; then calls
 * `done`.  For the end, without the loop.
 */
void strace_child_wait(struct strace_child *child);
/* Kills it if it still runs.  Does not call `done`. */
void strace_child_close(struct strace_child *child);

#endif
