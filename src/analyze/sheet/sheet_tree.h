/* SPDX-License-Identifier: MIT */
/*
 * Cgroups by their paths: which is below which, and which of B is which of A.
 */
#ifndef ANALYZE_SHEET_TREE_H
#define ANALYZE_SHEET_TREE_H

struct sheet_layout;

/*
 * Fills in `above` of all runs, whose keys must be known, and for an interval
 * which row is which.  Cgroups with the same path are the same.  One that was
 * removed and made again shows by counters that fell.  0 or -ENOMEM.
 */
int sheet_tree_place(struct sheet_layout *layout);

#endif
