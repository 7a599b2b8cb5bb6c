/* SPDX-License-Identifier: MIT */
/*
 * Finds the path of a cgroup by the kernel's id for it, so that each cgroup's path is read once,
 * not once for each of its tasks.
 */
#ifndef COLLECT_CGROUP_PATHS_H
#define COLLECT_CGROUP_PATHS_H

#include <stdint.h>

struct cgroup_paths;
struct host;
struct snapshot;
struct source_tally;

/*
 * Paths are interned in the snapshot.  Host, snapshot and tally must live as long.  NULL when
 * there is no memory.
 */
struct cgroup_paths *cgroup_paths_new(const struct host *host, struct snapshot *snapshot,
				      struct source_tally *tally);
void cgroup_paths_free(struct cgroup_paths *paths); /* NULL is allowed */

/*
 * Finds the path of the cgroup that the task is in, as a number in the dictionary; 0 when it has
 * none.  `id` is the cgroup's id, or 0 when the kernel did not report it: then the task's own file
 * is read.  With tid 0 no file is read, and the path is known only if another task of the cgroup
 * was asked before.  Returns 0, -ENOMEM, or the errno of reading that file, which is counted in
 * the tally.
 */
int cgroup_paths_find(struct cgroup_paths *paths, uint64_t id, int32_t tgid, int32_t tid,
		      uint32_t *ret);

#endif
