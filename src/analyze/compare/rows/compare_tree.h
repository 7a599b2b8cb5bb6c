/* SPDX-License-Identifier: MIT */
/*
 * Rows for the inner lines of a tree of groups (group/key_tree.h): the change of a cgroup with all
 * that is in it, or of a process with all its threads.
 *
 *	compare_tree_make(&tree, comparison, &keys, metrics_of_lines, section);
 *	row = tree.rows[line];	its group is tree.sums.groups.data[row->group]
 *	compare_tree_clear(&tree);
 */
#ifndef ANALYZE_COMPARE_TREE_H
#define ANALYZE_COMPARE_TREE_H

#include "analyze/compare/comparison.h"

struct key_tree;

/* All zeros is empty and valid. */
struct compare_tree {
	struct comparison sums;
	const struct comparison_row **rows; /* by line; NULL where there is none */
};

/*
 * Folds for each inner line of the tree one metric, over all groups of the comparison that the
 * line contains, shown or not.  `wanted` is by line; NULL for a line that is to have no row, and
 * else compare_is_number().  The comparison must outlive the tree.  0 or -ENOMEM; clear the tree
 * either way.
 */
int compare_tree_make(struct compare_tree *tree, const struct comparison *comparison,
		      struct key_tree *keys, const struct metric *const *wanted,
		      enum compare_section section);
void compare_tree_clear(struct compare_tree *tree);

#endif
