/* SPDX-License-Identifier: MIT */
/* The live processes of a tree, by number. */
#ifndef TRACE_LIVE_PROCESSES_H
#define TRACE_LIVE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "model/tree/tree_event.h"

struct live_process {
	struct task_key key;
	bool is_sampled; /* set by live_processes_mark(), cleared by the owner */
};

/* Sorted by pid.  Empty when all zeros. */
struct live_processes {
	ARRAY_OF(struct live_process) items;
};

/* Adds a process; it replaces one with the same number.  0 or -ENOMEM. */
int live_processes_add(struct live_processes *live, const struct task_key *key);
/*
 * Adds a process of which only a thread was seen, without a start time, unless it is there
 * already.
 */
int live_processes_know(struct live_processes *live, int32_t pid);
void live_processes_remove(struct live_processes *live, int32_t pid);
void live_processes_mark(struct live_processes *live, int32_t pid);
void live_processes_clear(struct live_processes *live);

#endif
