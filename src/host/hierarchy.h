/*
 * Which cgroup hierarchy tells where a task belongs.
 *
 * On a v2 host there is one.  On hybrid and v1 hosts there are many; the v2 tree
 * counts if it has the memory or cpu controller, else the v1 tree of the memory
 * controller does, since memory is what a cgroup is most often made for, else the
 * next one of a short list.
 */
#ifndef HOST_HIERARCHY_H
#define HOST_HIERARCHY_H

struct cgroup_hierarchy;

/* Looks below sys/fs/cgroup; version 0 when there is no cgroup tree. */
void hierarchy_find(int sys, struct cgroup_hierarchy *ret);

#endif
