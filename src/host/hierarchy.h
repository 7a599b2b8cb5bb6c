/* SPDX-License-Identifier: MIT */
/*
 * Finds the cgroup hierarchies of a host: the one that task paths are taken from, and where the
 * files of each controller are.
 *
 * On a v2 host there is one hierarchy.  On hybrid and v1 hosts there are many.  Paths are taken
 * from the v2 tree if it has the memory or cpu controller; else from the v1 tree of the memory
 * controller, since cgroups are most often made for memory; else from the next one of a short
 * list.
 */
#ifndef HOST_HIERARCHY_H
#define HOST_HIERARCHY_H

#include <stddef.h>

#include "host/host.h"

/* Searches below sys/fs/cgroup; the version is 0 when there is no cgroup tree. */
void hierarchy_find(int sys, struct cgroup_hierarchy *ret);

/* The trees that have files to read: v2's, and that of each v1 controller. */
enum hierarchy_id {
	HIERARCHY_V2,
	HIERARCHY_MEMORY,
	HIERARCHY_CPU,
	HIERARCHY_CPUACCT,
	HIERARCHY_CPUSET,
	HIERARCHY_BLKIO,
	HIERARCHY_PIDS,
	HIERARCHY_COUNT,
};

/*
 * Controllers that are mounted together have separate entries here, for the same directory.  A
 * container may have only a part of a tree mounted: `tops` has the path where that part begins, ""
 * for a whole tree.  Closed by hierarchies_close().
 */
struct hierarchies {
	struct cgroup_hierarchy trees[HIERARCHY_COUNT]; /* fd -1: the host does not have it */
	char *tops[HIERARCHY_COUNT];
};

/* 0 or -ENOMEM; a host without cgroups has none of the trees. */
int hierarchies_open(const struct host *host, struct hierarchies *ret);
void hierarchies_close(struct hierarchies *hierarchies);

/*
 * Opens a cgroup's directory in one of the trees, by the path that proc shows.  Returns an fd, or
 * a negative errno; -ENOENT also when the path is outside the part that is mounted.
 */
int hierarchies_open_cgroup(const struct hierarchies *hierarchies, enum hierarchy_id id,
			    const char *path);

#endif
