/* SPDX-License-Identifier: MIT */
/* Checks whether a task's delay is possible, whichever source it comes from. */
#ifndef COLLECT_DELAY_H
#define COLLECT_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"
#include "model/snapshot/snapshot.h"

/* How long a task has lived at `boottime_ns`.  Never less than the true age. */
static inline uint64_t task_life_ns(const struct task *task, uint64_t boottime_ns)
{
	return boottime_ns > task->start_time_ns ? boottime_ns - task->start_time_ns : 0;
}

/*
 * Whether a delay is possible.  Some kernels count a wait from boot on when they lost its start,
 * but no task waits longer than it lives.  Counts the impossible ones.
 */
static inline bool delay_is_possible(struct capture_tally *tally, enum metric_id id, uint64_t value,
				     uint64_t life_ns)
{
	if (metrics[id].section != SECTION_DELAYS || metrics[id].unit != UNIT_NS ||
	    value <= life_ns)
		return true;
	tally->discarded_values++;
	return false;
}

#endif
