/* SPDX-License-Identifier: MIT */
/*
 * Prints the lines of a heartbeat: one about the process, one for each of its threads with open
 * scopes, and some for threads that use CPU time without any scope.
 */
#ifndef LIB_BEAT_H
#define LIB_BEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/heartbeat/progress.h"
#include "lib/heartbeat/stacks.h"
#include "lib/lines/output.h"
#include "lib/usage/burners.h"

/* Where a window began. */
struct beat_base {
	uint64_t ns;
	struct amount cpu_ns;
};

struct beat {
	uint32_t phase_lines; /* maximum; set by the caller */
	uint64_t started_ns;
	struct beat_base base, previous; /* begin of the window of averages; of the one before */
	struct progress progress;
	struct burners burners;
	uint64_t reported_lost; /* lost lines that were reported so far */
};

/* Called by the heartbeat thread: begins the first window.  The memory must be zero. */
void beat_begin(struct beat *beat, uint64_t now_ns);

void beat_print(struct beat *beat, const struct stacks *stacks, bool is_final,
		struct output *output);
/* Begins a new window: later averages begin here, as soon as that is long enough. */
void beat_mark(struct beat *beat, const struct stacks *stacks);

#endif
