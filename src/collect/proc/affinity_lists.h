/* SPDX-License-Identifier: MIT */
/*
 * Turns affinity masks into cpulist texts in a snapshot's dictionary, given by their numbers
 * there.
 *
 * Most tasks of a host share a few masks, so the latest masks are cached.
 */
#ifndef COLLECT_AFFINITY_LISTS_H
#define COLLECT_AFFINITY_LISTS_H

#include <stddef.h>
#include <stdint.h>

struct affinity_lists;
struct cpuset;
struct snapshot;

/*
 * Masks of `words` 64-bit words are shown for the CPUs in `online`, as sched_getaffinity(2) does.
 * Snapshot and set must live as long.  Returns NULL when there is no memory.
 */
struct affinity_lists *affinity_lists_new(struct snapshot *snapshot, const struct cpuset *online,
					  size_t words);
void affinity_lists_free(struct affinity_lists *lists); /* NULL is allowed */

/* Finds the number of the mask's list.  0 or -ENOMEM. */
int affinity_lists_find(struct affinity_lists *lists, const uint64_t *mask, uint32_t *ret);

#endif
