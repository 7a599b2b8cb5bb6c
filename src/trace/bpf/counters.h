/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic on the counters of a thread from /proc and from the exit records of taskstats.  In
 * both, run_time_ns is exact; utime_ns and stime_ns are samples of the tick, of which only the
 * ratio is used.
 */
#ifndef TRACE_COUNTERS_H
#define TRACE_COUNTERS_H

#include "model/tree/amounts.h"

/*
 * since = max(since, now - before), for each counter.  User and system time are scaled so that
 * they add up to the time on a CPU. A counter that `before` does not have started at 0.
 */
void counters_raise(struct amounts *since, const struct amounts *before, const struct amounts *now);

/* Whether the amount is a plain total: neither a share of another one nor a maximum. */
bool counter_is_total(enum amount_id id);

#endif
