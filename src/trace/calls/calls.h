/* SPDX-License-Identifier: MIT */
/*
 * This room sums system calls by process and call, from BPF programs: of the host, of a tree, of a
 * cgroup or of some processes.  Nobody is stopped.  Unlike a tracer (trace/tracer.h) it keeps
 * nothing for each thread but the call that it is in, so that it can stay on for long.
 *
 *	calls.c		the programs, their maps and walks
 *	no_calls.c	the same in a build without BPF: opening fails with the reason
 *	call_rules.c	what BPF programs know about single calls
 *
 * A call counts when it returns; exit and exit_group when they begin.  taskscope itself, and what it
 * starts while this is open, is left out.  Used from one thread.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/syscall/syscall.h"

struct calls;
struct error;
struct host;

/* What is watched; at most one is given, nothing: the host. */
struct calls_options {
	int32_t tree_pid;    /* this process and its descendants */
	const char *cgroup;  /* processes in this cgroup and below */
	const int32_t *pids; /* these processes, all threads of them */
	size_t pid_count;
	uint32_t sums_max; /* for tests; 0: CALLS_SUMS */
};

/* What a process did with one call since the last read.  start_ns is in whole clock ticks. */
struct call_sum {
	int32_t pid;
	uint64_t start_ns;
	enum syscall_abi abi;
	uint32_t number;
	uint64_t calls, errors;
	uint64_t time_ns, max_ns; /* wall time */
};

/* A call that a thread is in. */
struct call_under_way {
	int32_t pid, tid;
	uint64_t start_ns; /* of the process */
	enum syscall_abi abi;
	uint32_t number;
	uint64_t time_ns; /* so far */
	bool is_earlier;  /* it began before it was watched, so it took longer than that */
};

struct calls_losses {
	/* Those for which the kernel's table of sums had no room, or of a thread for which it had no memory. */
	uint64_t calls, time_ns;
	uint64_t threads;   /* of a tree, or of processes, for which the kernel had no memory */
	uint64_t own_calls; /* of taskscope itself, left out */
};

/* A sink ends the reading with a negative errno. */
typedef int call_sum_sink(void *context, const struct call_sum *sum);
typedef int call_under_way_sink(void *context, const struct call_under_way *call);

/* 0, or a negative errno with a sentence: why there are no figures of calls here, or no such process. */
int calls_open(const struct host *host, const struct calls_options *options, struct calls **ret,
	       struct error *error);
void calls_close(struct calls *calls); /* NULL is allowed */

/* Sends what was added since the last read; each sum once.  0 or a negative errno. */
int calls_read(struct calls *calls, call_sum_sink *sink, void *context);
/* Sends the calls that threads are in at the moment. */
int calls_under_way(struct calls *calls, call_under_way_sink *sink, void *context);
/* Since it was opened. */
void calls_losses(const struct calls *calls, struct calls_losses *ret);

/* Takes the programs off the path of system calls, and puts them there again.  0 or an errno. */
int calls_pause(struct calls *calls);
int calls_resume(struct calls *calls);

#endif
