/* SPDX-License-Identifier: MIT */
/*
 * Puts groups of processes into the order of a forest: each below the process
 * that started it.
 *
 *	grouping_sort(grouping, &order);
 *	forest_order(grouping, &depths);  depths[i] is that of grouping->groups[i]
 *	free(depths);
 */
#ifndef ANALYZE_FOREST_H
#define ANALYZE_FOREST_H

#include <stdint.h>

struct grouping;

/*
 * For groups of AXIS_PROCESS.  Those without a parent in the snapshot are roots;
 * roots, and the children of one parent, stay in the order that they had.  A
 * ring of parents, which only a forged file has, begins with its first group.
 * 0 and an array that the caller frees, or -ENOMEM.
 */
int forest_order(struct grouping *grouping, uint32_t **ret_depths);

#endif
