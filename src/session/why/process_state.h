/* SPDX-License-Identifier: MIT */
/*
 * Reads the state of a process and its threads from /proc at one moment: where in the kernel
 * threads wait, in which call and on what.
 *
 * Everything is read below one directory fd, so that nothing comes from another process that got
 * the same number.  What we may not read is absent, and `denied` is set.
 */
#ifndef SESSION_PROCESS_STATE_H
#define SESSION_PROCESS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/wait/call_text.h"
#include "host/wait/descriptor_holders.h"
#include "model/tree/tree_event.h"
#include "model/wait/link_kind.h"

struct error;
struct host;

#define TASK_STATE_FRAMES 8
#define TASK_STATE_SYMBOL 64
#define TASK_STATE_LINK DESCRIPTOR_LINK
/* Further threads are only counted. */
#define TASK_STATE_THREADS 512

struct task_state {
	int32_t tid;
	char comm[TREE_COMM_SIZE];
	char state;			 /* as in stat; 0 when not known */
	char channel[TASK_STATE_SYMBOL]; /* kernel function in which it sleeps, "" when not known */
	bool in_call;
	struct call_text call;
	char link[TASK_STATE_LINK]; /* what the call's descriptor refers to, "" for none */
	char stack[TASK_STATE_FRAMES][TASK_STATE_SYMBOL];
	size_t frames;
	bool has_times;
	uint64_t cpu_ns, queue_ns; /* since the thread began */
	uint64_t slices;	   /* how often it got a CPU */
};

struct process_state {
	int32_t pid; /* of the process, even if `asked` is a thread */
	int32_t asked;
	uint64_t start_ticks;
	char comm[TREE_COMM_SIZE];
	char state;
	int32_t parent_pid;
	char parent_comm[TREE_COMM_SIZE];
	int32_t tracer_pid; /* a debugger; 0: none */
	char tracer_comm[TREE_COMM_SIZE];
	bool is_kernel_thread;
	bool is_ending;	      /* all its threads are dead or exiting */
	bool is_dead;	      /* all its threads are dead; `state` is that of the first one */
	bool has_exit_status; /* of a zombie, as wait() has it */
	int exit_status;
	bool denied; /* we may not read calls and wait channels */
	bool late;   /* reading calls and stacks took too long: it holds a lock that this needs */
	uint64_t thread_count;
	ARRAY_OF(struct task_state) threads; /* the leader first */
};

/* 0, or a negative errno with a sentence: -ESRCH when there is no such process. */
int process_state_read(const struct host *host, int32_t pid, struct process_state *ret,
		       struct error *error);
/*
 * Reads all but its threads and the names of other processes.  Returns the process's directory, or
 * a negative errno: -ESRCH when there is no such process.
 */
int process_state_open(const struct host *host, int32_t asked, struct process_state *found);
void process_state_clear(struct process_state *found);

/*
 * What the thread waits for, judged by its call and descriptor alone, or -1 when they do not show it.
 */
int task_state_reason(const struct task_state *thread);

#endif
