/* SPDX-License-Identifier: MIT */
/*
 * The cgroup hierarchies of a host: which one tells where a task belongs, and
 * where the files of each controller are.
 *
 * On a v2 host there is one hierarchy.  On hybrid and v1 hosts there are many.
 * For paths, the v2 tree counts if it has the memory or cpu controller, else the
 * v1 tree of the memory controller does, since memory is what a cgroup is most
 * often made for, else the next one of a short list.
 */
#ifndef HOST_HIERARCHY_H
#define HOST_HIERARCHY_H

#include <stddef.h>

#include "host/host.h"

/* Looks below sys/fs/cgroup; version 0 when there is no cgroup tree. */
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
 * Controllers that are mounted together have a tree each here, of the same
 * directory.  A container may have only a part of a tree mounted: `top` is the
 * path that it begins at, "" when it is whole.  Ended by hierarchies_close().
 */
struct hierarchies {
	struct cgroup_hierarchy trees[HIERARCHY_COUNT]; /* fd -1: the host does not have it */
	char *tops[HIERARCHY_COUNT];
};

/* 0 or -ENOMEM; a host without cgroups has none of the trees. */
int hierarchies_open(const struct host *host, struct hierarchies *ret);
void hierarchies_close(struct hierarchies *hierarchies);

/*
 * A cgroup's directory in one of the trees, by the path that proc shows.  Returns
 * an fd to open files below, or a negative errno: -ENOENT also when the path is
 * not in the part that is mounted.
 */
int hierarchies_open_cgroup(const struct hierarchies *hierarchies, enum hierarchy_id id,
			    const char *path);

#endif
