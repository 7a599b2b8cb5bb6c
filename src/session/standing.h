/* SPDX-License-Identifier: MIT */
/*
 * What /proc alone tells about a process at one moment: its state and that of its threads, where
 * in the kernel they wait, in which call and on what.
 *
 * Everything is read below one directory fd, which stays with the process: nothing is of another
 * one that has the number by now.  What may not be read is absent, and `denied` says so.
 */
#ifndef SESSION_STANDING_H
#define SESSION_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "model/tree_event.h"

struct error;
struct host;

#define STANDING_FRAMES 8
#define STANDING_SYMBOL 64
#define STANDING_OBJECT 128
/* Threads beyond are counted only. */
#define STANDING_THREADS 512

struct standing_thread {
	int32_t tid;
	char comm[TREE_COMM_SIZE];
	char state;		       /* as in stat; 0 when not known */
	char channel[STANDING_SYMBOL]; /* kernel function that it sleeps in, "" when not known */
	bool in_call;
	uint32_t call;		      /* native number */
	char object[STANDING_OBJECT]; /* what the call's descriptor is, "" when it has none */
	char stack[STANDING_FRAMES][STANDING_SYMBOL];
	size_t frames;
	bool has_times;
	uint64_t cpu_ns, queue_ns; /* since it began */
};

struct standing {
	int32_t pid; /* of the process, also when a thread was asked for */
	int32_t asked;
	uint64_t start_ticks;
	char comm[TREE_COMM_SIZE];
	char state;
	int32_t parent_pid;
	char parent_comm[TREE_COMM_SIZE];
	int32_t tracer_pid; /* a debugger; 0: none */
	char tracer_comm[TREE_COMM_SIZE];
	bool is_kernel_thread;
	bool is_dead;	      /* all its threads are; `state` is that of the first one */
	bool has_exit_status; /* of a zombie, as wait() has it */
	int exit_status;
	bool denied; /* calls and wait channels may not be read */
	uint64_t thread_count;
	ARRAY_OF(struct standing_thread) threads; /* the leader first */
};

/* 0; -ESRCH when there is no such process; or another negative errno; each with a sentence. */
int standing_read(const struct host *host, int32_t pid, struct standing *ret, struct error *error);
void standing_clear(struct standing *standing);

static inline bool standing_is_dead_state(char state)
{
	return state == 'Z' || state == 'X';
}

/* What the thread waits for by its call and object alone, or -1 when that does not tell. */
int standing_reason(const struct standing_thread *thread);

#endif
