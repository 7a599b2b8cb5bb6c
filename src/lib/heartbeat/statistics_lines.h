/* SPDX-License-Identifier: MIT */
/*
 * Prints statistics of scopes by label, over all threads: how many, how long, and how much CPU
 * time.
 */
#ifndef LIB_STATISTICS_LINES_H
#define LIB_STATISTICS_LINES_H

#include <stdint.h>

#include "base/scope_layout.h"
#include "lib/lines/output.h"

struct statistics_sum {
	uint64_t count, total_ticks, self_ticks, longest_ticks;
	uint64_t cpu_ns, cpu_samples;
	uint64_t buckets[SCOPE_BUCKETS];
};

/* The time that `percent` of the scopes did not exceed, estimated within its bucket. */
uint64_t statistics_percentile(const struct statistics_sum *sum, unsigned int percent);

/*
 * Prints one line for each label, the longest total first.  `sums` is room for SCOPE_LABELS of
 * them; it must be zero, and is again at the end.
 */
void statistics_print(struct statistics_sum *sums, double ns_per_tick, struct output *output);

#endif
