/* SPDX-License-Identifier: MIT */
/*
 * The lines of a heartbeat: one about the process, one for each of its threads with open scopes, and
 * those of threads that burn CPU time without any.
 */
#ifndef LIB_BEAT_H
#define LIB_BEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/burners.h"
#include "lib/look.h"
#include "lib/output.h"
#include "lib/progress.h"

/* Where a window began. */
struct beat_base {
	uint64_t ns;
	struct amount cpu_ns;
};

struct beat {
	uint32_t phase_lines; /* at most, by its maker */
	uint64_t started_ns;
	struct beat_base base, previous; /* the window of averages; the one before */
	struct progress progress;
	struct burners burners;
	uint64_t told_lost; /* lines, until the last heartbeat */
};

/* Of memory that is zero.  0 or -ENOMEM. */
int beat_init(struct beat *beat);
void beat_clear(struct beat *beat);
/* By the heartbeat thread: the first window begins. */
void beat_begin(struct beat *beat, uint64_t now_ns);

void beat_print(struct beat *beat, const struct look *look, bool is_final, struct output *output);
/* What comes next is averaged from here on, as soon as that is long enough. */
void beat_mark(struct beat *beat, const struct look *look);

#endif
