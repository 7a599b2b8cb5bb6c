/* SPDX-License-Identifier: MIT */
/*
 * Turns records of the task iterator into rows of a snapshot.
 *
 * Which member of a record is which metric is in metrics.def; values that take
 * more than a conversion of units are worked out as the kernel does it for
 * /proc.
 */
#ifndef COLLECT_TASK_DECODER_H
#define COLLECT_TASK_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct affinity_lists;
struct snapshot;
struct task_record;

#define DECODER_SECTIONS 8

/* Set the first members; the rest, all zeros, is the decoder's own.  Owns nothing. */
struct task_decoder {
	struct snapshot *snapshot;
	struct raw_scale scale;
	struct affinity_lists *affinity; /* NULL: masks are not decoded */
	int64_t boottime_offset_ns;	 /* of our time namespace */
	uint64_t boottime_ns;		 /* now: no wait is longer than its task's life */
	uint32_t withheld; /* bit for each gate whose metrics records have and nobody counted */

	uint64_t seen[DECODER_SECTIONS]; /* members that some record had, by section */
};

/*
 * Adds a task, its process when that is new, and their values.  Impossible ones
 * are left out and counted in the snapshot's tally.  Returns 0 or -ENOMEM.
 */
int task_decoder_add(struct task_decoder *decoder, const struct task_record *record,
		     uint32_t cgroup);

/* After the last record: names the metrics that this kernel does not keep.  0 or -ENOMEM. */
int task_decoder_finish(const struct task_decoder *decoder);

#endif
