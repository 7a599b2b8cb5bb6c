/* SPDX-License-Identifier: MIT */
/*
 * What each thread of a tree did at each moment: ran, was ready without a CPU, or was blocked, and
 * who ended that.  The critical path is found in it when the run is over.
 *
 * A timeline is built from events (TREE_FORK, TREE_EXEC, TREE_WAIT, the ends of threads).  Memory
 * is bounded: a time off the CPU takes TIMELINE_STEP_BYTES, and there are at most TIMELINE_STEPS of
 * them.  When there are more, the threshold below which they are not kept is raised (none, 10 us,
 * 100 us, 1 ms, ...), and those below it are merged into the times around them, as the
 * tracer does from the beginning with times below its own threshold.  So what is kept always
 * covers the whole time; what was lost on the way shows as a gap.
 */
#ifndef MODEL_TIMELINE_H
#define MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree/tree_event.h"

#define TIMELINE_STEPS (512 * 1024)
