/* SPDX-License-Identifier: MIT */
/*
 * What a thread used since it began, as /proc and the exit records of taskstats tell it alike.
 */
#ifndef TRACE_COUNTERS_H
#define TRACE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/usage.h"

struct thread_counters {
	/* USAGE_USER and USAGE_SYSTEM are samples of the tick: their ratio counts, not their sum. */
	struct usage usage;
	bool has_run_queue;
	uint64_t run_queue_ns, run_queue_count, run_queue_longest;
};

/*
 * Adds what grew from `before` to `now` to nothing, and raises `since` to that: no value falls,
 * and user and system time add up to the CPU time.  What `before` does not have began with 0.
 */
void counters_raise(struct thread_counters *since, const struct thread_counters *before,
		    const struct thread_counters *now);

#endif
