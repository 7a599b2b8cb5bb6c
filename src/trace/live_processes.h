/* SPDX-License-Identifier: MIT */
/*
 * The processes of a tree that live, by number.
 */
#ifndef TRACE_LIVE_PROCESSES_H
#define TRACE_LIVE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/tree_event.h"

struct live_process {
	struct task_key key;
	bool seen; /* a mark for its owner */
};

/* Sorted by pid.  Empty when all zeros. */
struct live_processes {
	ARRAY_OF(struct live_process) items;
};

/* A process with that number that is already there is replaced.  0 or -ENOMEM. */
int live_processes_add(struct live_processes *live, const struct task_key *key);
/* One of which only a thread was seen: added when it is not there, without a start time. */
int live_processes_know(struct live_processes *live, int32_t pid);
void live_processes_remove(struct live_processes *live, int32_t pid);
void live_processes_see(struct live_processes *live, int32_t pid);
void live_processes_clear(struct live_processes *live);

#endif
