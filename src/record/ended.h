/* SPDX-License-Identifier: MIT */
/*
 * Processes of the scope that ended since the last tick, with the CPU time of their whole lives: no
 * tick sees what they used at the end, and the scope's total must not lack it.
 */
#ifndef RECORD_ENDED_H
#define RECORD_ENDED_H

#include "base/collection/array.h"
#include "model/tree/tree_event.h"

struct life_event;
struct recorder_tick;
struct snapshot;

struct ended_process {
	struct task_key task;
	uint64_t cpu_ns;
};

/* All zeros is empty and valid. */
struct ended_processes {
	ARRAY_OF(struct ended_process) list;
};

void ended_clear(struct ended_processes *ended);

/* Notes the process of an exit; other events, and those without its CPU time, say nothing. */
void ended_note(struct ended_processes *ended, const struct life_event *event);

/*
 * What those used between the tick and the snapshot `now`, which forgets them.  One that is in `now`
 * ended after it, and is kept for the next time.
 */
uint64_t ended_take(struct ended_processes *ended, const struct recorder_tick *before,
		    const struct snapshot *now);

#endif
