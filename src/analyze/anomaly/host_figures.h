/* SPDX-License-Identifier: MIT */
/*
 * Makes the sample of the host, and of the scope that is recorded, from a snapshot and the one before
 * it.  Pure.
 */
#ifndef ANALYZE_ANOMALY_HOST_FIGURES_H
#define ANALYZE_ANOMALY_HOST_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/record/host_sample.h"

struct snapshot;

/*
 * `before` is NULL for the first tick.  If it is of another boot, or its time is not known, it is not
 * used: rates and percentages are then absent.  So is the rate of a counter that fell, or was not
 * there before.  What the recorder knows of itself is left unset, and so is the CPU of
 * a scope that is not a cgroup (scope_cpu_figure()).
 *
 * Time is that of the monotonic clock, so it does not matter when somebody sets the wall clock.
 */
void host_figures(const struct snapshot *before, const struct snapshot *now,
		  struct host_sample *ret);

/* The time between two snapshots of one boot; false when they are not, or not in this order. */
bool snapshots_seconds_apart(const struct snapshot *before, const struct snapshot *now,
			     double *ret);

/* Whether the process, a row of the snapshot, has ended and was not waited for. */
bool process_is_zombie(const struct snapshot *snapshot, uint32_t process);

#endif
