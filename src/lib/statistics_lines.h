/* SPDX-License-Identifier: MIT */
/*
 * Scopes by label, of all threads: how often, how long, and with how much CPU time.
 */
#ifndef LIB_STATISTICS_LINES_H
#define LIB_STATISTICS_LINES_H

#include <stdint.h>

#include "base/scope_layout.h"
#include "lib/output.h"

struct statistics_sum {
	uint64_t count, total_ticks, longest_ticks;
	uint64_t cpu_ns, cpu_samples;
	uint64_t buckets[SCOPE_BUCKETS];
};

/* Which time so many per cent of the scopes did not exceed, between the bounds of its bucket. */
uint64_t statistics_percentile(const struct statistics_sum *sum, unsigned int percent);

/* One line a label, the longest total first.  Nothing when there is no memory for the sums. */
void statistics_print(double ns_per_tick, struct output *output);

#endif
