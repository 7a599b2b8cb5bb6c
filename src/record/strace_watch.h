/* SPDX-License-Identifier: MIT */
/*
 * Sums the system calls of a tree or cgroup by strace -c -f -w: one for each process that no strace
 * follows yet, since a summary is of all that one strace follows.  What a process starts is followed
 * with it, so its sums have the calls of these children until the minute is over: then each strace is
 * asked for its summary, and begins anew.
 *
 * Calls between the two are not seen, nor are those of a call that has not returned.
 */
#ifndef RECORD_STRACE_WATCH_H
#define RECORD_STRACE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "model/record/process_call.h"

/* At most so many at a time; further processes are left out, and counted. */
#define STRACES_MOST 32

struct error;
struct host;
struct snapshot;
struct strace_watch;

struct strace_watch_options {
	const struct host *host;
	struct loop *loop;
	/* Says a sentence to a person; each kind of failure once. */
	void (*note)(const char *sentence);
	/* Takes the rows of a summary. */
	process_call_sink *sink;
	void *context;
};

struct strace_losses {
	uint64_t processes; /* that could not be traced, or were too many */
	uint64_t summaries; /* that were lost: strace was killed, or said what is not understood */
};

/* 0, or -ENOENT with a sentence when strace is not installed. */
int strace_watch_open(const struct strace_watch_options *options, struct strace_watch **ret,
		      struct error *error);
void strace_watch_close(struct strace_watch *watch); /* NULL is allowed */

/* At each tick: begins with the processes of the snapshot that nobody follows, but not with our own. */
void strace_watch_tick(struct strace_watch *watch, const struct snapshot *snapshot);
/* Lets all processes go.  Summaries come later; with `shall_wait`, before it returns. */
void strace_watch_stop(struct strace_watch *watch, bool shall_wait);

/* The process of each strace that has begun; returns how many there are. */
size_t strace_watch_pids(const struct strace_watch *watch, int32_t pids[STRACES_MOST]);
/* Why the process could not be traced; NULL: it is, will be, or was refused so long ago that it is forgotten. */
const char *strace_watch_refusal(const struct strace_watch *watch, const struct task_key *process);
struct strace_losses strace_watch_losses(const struct strace_watch *watch);

#endif
