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

struct beat {
	uint32_t phase_lines; /* at most, by its maker */
	uint64_t started_ns;
	uint64_t marked_ns; /* the window of averages began */
	struct amount marked_cpu_ns;
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
/* What comes next is averaged from here on. */
void beat_mark(struct beat *beat, const struct look *look);

#endif
