/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a snapshot used in all: a counter summed over their threads, those that
 * exited included, so that it never falls while the process lives.
 */
#ifndef MODEL_PROCESS_TOTALS_H
#define MODEL_PROCESS_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct snapshot;

struct process_total {
	bool is_known; /* every thread that the snapshot has was measured */
	bool is_least; /* but not what exited threads used: it is at least the value, and may fall */
	uint64_t value;
};

/*
 * Gives an array with an entry for each process row, which the caller frees.  The kernel keeps
 * bytes of exited threads in one sum with those of waited-for children, so these count, too.
 * 0 or -ENOMEM.
 */
int process_totals(const struct snapshot *snapshot, enum metric_id id, struct process_total **ret);

/* The row of the same process (number and start time) in another snapshot, or -1. */
int64_t process_find_same(const struct snapshot *there, const struct snapshot *here, uint32_t row);

/*
 * What a process used between two snapshots of one boot; one that began in between started at 0.
 * False when it is not known, or a total fell.
 */
bool process_total_growth(const struct snapshot *before, const struct process_total *totals_before,
			  const struct snapshot *now, const struct process_total *totals_now,
			  uint32_t row, uint64_t *ret);

/*
 * CPU that a process used in between, in percent of one core; the totals are those of run_time_ns.
 * False when it is not known.
 */
bool process_cpu_percent(const struct snapshot *before, const struct process_total *totals_before,
			 const struct snapshot *now, const struct process_total *totals_now,
			 uint32_t row, double *ret);

#endif
