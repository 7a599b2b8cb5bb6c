/* SPDX-License-Identifier: MIT */
/*
 * System calls of processes in a recording: the table process_syscalls.  A row is what a process did
 * with one call in a minute, CALLS_PER_PROCESS of them by time and one for all others.  Processes that no tick has
 * seen, and those beyond CALL_PROCESSES in a minute, have rows together, of process 0.
 */
#ifndef STORE_HISTORY_CALLS_H
#define STORE_HISTORY_CALLS_H

#include "model/record/process_call.h"
#include "store/history/history.h"

#define CALLS_PER_PROCESS 16
#define CALL_PROCESSES 4096

/* Adds to the minute of that time; writes the one that it ends.  0 or an error. */
int history_add_calls(struct history *history, uint64_t unix_ns, const struct process_call *calls,
		      size_t count, struct error *error);

struct call_query {
	struct history_span span;
	int32_t pid;	  /* 0: any */
	const char *name; /* of the process; NULL: any */
	size_t limit;	  /* the last ones; 0: all */
};

struct call_point {
	uint64_t unix_ns; /* when its minute began */
	struct task_key process;
	const char *comm;      /* NULL: not known */
	struct call_line line; /* name "": the calls that have no row of their own */
};

typedef int call_point_sink(void *context, const struct call_point *point);

/* The oldest first; in a minute by process, the most time first. */
int history_calls(struct history *history, const struct call_query *query, call_point_sink *sink,
		  void *context, struct error *error);

/* For the files of this room. */
struct call_minutes;
void call_minutes_free(struct call_minutes *minutes); /* NULL is allowed */
/* Writes the minute that is not over. */
int call_minutes_flush(struct history *history, struct error *error);

#endif
