/* SPDX-License-Identifier: MIT */
/*
 * The CPUs that a task may run on: a mask from the kernel, or a list from its status file.
 * Snapshots have them as canonical lists, in their dictionary.
 */
#ifndef COLLECT_AFFINITY_H
#define COLLECT_AFFINITY_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/task.h"

struct affinity_lists;
struct cpuset;
struct snapshot;
struct text;

/* Asks the kernel about a live task.  Returns 0 or a negative errno. */
int affinity_ask(int32_t tid, uint64_t mask[TASK_AFFINITY_WORDS_MAX]);

/*
 * The CPUs of a list that are also online, as a canonical list at the end of `out`; an empty
 * `online` means that it is not known.  0, -EINVAL or -ENOMEM.
 */
int affinity_from_list(const char *list, size_t length, const struct cpuset *online,
		       struct text *out);

/*
 * Turns masks of `words` 64-bit words into lists of the CPUs that are also in `online`, as
 * sched_getaffinity(2) does; NULL: of all.  Most tasks of a host share a few masks, so the latest
 * ones are cached.  Snapshot and set must live as long.  Returns NULL when there is no memory.
 */
struct affinity_lists *affinity_lists_new(struct snapshot *snapshot, const struct cpuset *online,
					  size_t words);
void affinity_lists_free(struct affinity_lists *lists); /* NULL is allowed */

/* Finds the number of the mask's list in the dictionary.  0 or -ENOMEM. */
int affinity_lists_find(struct affinity_lists *lists, const uint64_t *mask, uint32_t *ret);

#endif
