/* SPDX-License-Identifier: MIT */
/*
 * How fast counters move, and when they will be done: over the time since the last heartbeat for a
 * scope that was open then, else since the scope began.
 */
#ifndef LIB_PROGRESS_H
#define LIB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/line.h"
#include "lib/look.h"

struct progress_mark {
	uint32_t generation; /* 0: none */
	uint64_t count;
};

struct progress {
	uint64_t marked_ns;
	struct progress_mark *marks; /* for each slot and frame */
};

/* 0 or -ENOMEM. */
int progress_init(struct progress *progress);
void progress_clear(struct progress *progress);
/* A new window begins. */
void progress_mark(struct progress *progress, const struct look *look);

/* progress= rate= eta= of the thread's innermost scope that counts; nothing if there is none. */
void progress_add(const struct progress *progress, const struct look *look,
		  const struct look_thread *thread, struct line *line);
/* progress= of that scope; NULL: none. */
void progress_add_count(const struct look_frame *frame, struct line *line);

#endif
