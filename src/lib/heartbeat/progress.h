/* SPDX-License-Identifier: MIT */
/*
 * How fast counters move, and when they will reach their total.  The rate is measured since the
 * last heartbeat for a scope that was open then, else since the scope began.
 */
#ifndef LIB_PROGRESS_H
#define LIB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/heartbeat/stacks.h"
#include "lib/lines/line.h"

struct progress_mark {
	uint32_t generation; /* 0: none */
	uint64_t count;
};

struct progress {
	uint64_t marked_ns;
	struct progress_mark marks[SCOPE_THREADS][SCOPE_FRAMES]; /* by slot */
};

/* Begins a new window for rates. */
void progress_mark(struct progress *progress, const struct stacks *stacks);

/* Adds progress= rate= eta= of the thread's innermost scope that counts; nothing if none does. */
void progress_add(const struct progress *progress, const struct stacks *stacks,
		  const struct stack *thread, struct line *line);
/* Adds progress= of that scope; NULL: nothing. */
void progress_add_count(const struct scope_frame *frame, struct line *line);

#endif
