/* SPDX-License-Identifier: MIT */
/*
 * Cuts a run into stretches in which it did one kind of thing, by its samples: cores busy, memory,
 * storage I/O and threads.  In a stretch all of them stay about the same, except memory, which may
 * grow or shrink steadily.  A cut must be worth it: a run that goes on as it began has one stretch.
 */
#ifndef ANALYZE_SEGMENT_H
#define ANALYZE_SEGMENT_H

struct run;
struct run_segments;

/* Empty when there are fewer than two samples.  0 or -ENOMEM. */
int segments_find(const struct run *run, struct run_segments *ret);

#endif
