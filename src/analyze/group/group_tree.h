/* SPDX-License-Identifier: MIT */
/*
 * Puts groups of AXIS_ALL into the order of a tree (key_tree.h), with groups for its inner lines:
 * all tasks of a cgroup and of those below it, or of a process.
 *
 *	grouping_sort(grouping, &order);
 *	group_tree_make(&tree, grouping, shown);  now the first tree.count groups are its lines
 *	group_tree_clear(&tree);
 */
#ifndef ANALYZE_GROUP_TREE_H
#define ANALYZE_GROUP_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/group/key_tree.h"

struct grouping;

/* All zeros is empty and valid. */
struct group_tree {
	struct key_tree keys;
	uint32_t *depths; /* by group: below how many others */
	const char **labels;
	size_t count;
};

/*
 * Makes a tree of the first groups, so many.  An inner group has the tasks of all groups that
 * belong to it, also of those that the tree does not show; these come after the tree.  The labels
 * point into the tree.  0 or -ENOMEM.
 */
int group_tree_make(struct group_tree *tree, struct grouping *grouping, size_t shown);
void group_tree_clear(struct group_tree *tree);

#endif
