/* SPDX-License-Identifier: MIT */
/*
 * Differences between the hosts of two sides: kernel, hardware, tunables.
 *
 * What changes by itself (clocks, load, free memory) is left out.  So is how
 * the snapshots were taken: the notes say that.
 */
#ifndef ANALYZE_COMPARE_HOST_H
#define ANALYZE_COMPARE_HOST_H

struct comparison;
struct snapshot;

/* Adds to the comparison's host_changes.  0 or -ENOMEM. */
int compare_hosts(const struct snapshot *before, const struct snapshot *after,
		  struct comparison *comparison);

#endif
