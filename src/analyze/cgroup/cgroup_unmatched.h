/* SPDX-License-Identifier: MIT */
/*
 * The cgroups that have tasks on one side only, and that no cgroup of the other side was renamed
 * to or from (analyze/cgroup/cgroup_match.h).
 */
#ifndef ANALYZE_CGROUP_UNMATCHED_H
#define ANALYZE_CGROUP_UNMATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"

struct compare_options;
struct compare_side;

/* Amounts are of one snapshot: of several, the mean; of intervals, what is done in a second. */
struct unmatched_cgroup {
	const char *key;
	bool is_after;
	uint32_t tasks;
	bool has_run_time, has_rss;
	uint64_t run_time_ns, rss_bytes;
};

/* All zeros is empty and valid. */
struct unmatched_cgroups {
	struct arena arena;
	ARRAY_OF(struct unmatched_cgroup) items; /* of before, then of after; by tasks, the most first */
};

/*
 * Where a side was limited by a filter that the other did not have, what it lacks may have
 * existed, and nothing is listed.  0, or the error of census_new().
 */
int cgroup_unmatched_find(struct unmatched_cgroups *unmatched, const struct compare_side *before,
			   const struct compare_side *after, const struct compare_options *options);
void cgroup_unmatched_clear(struct unmatched_cgroups *unmatched);

#endif
