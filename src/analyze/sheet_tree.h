/* SPDX-License-Identifier: MIT */
/*
 * Cgroups by their paths: which is below which, and which of B is which of A.
 */
#ifndef ANALYZE_SHEET_TREE_H
#define ANALYZE_SHEET_TREE_H

struct sheet_layout;

/*
 * Fills in `above` and `partner` of all runs, whose keys are known.  Cgroups are the
 * same when they have the same path: one that was removed and made again tells
 * by counters that fell.  0 or -ENOMEM.
 */
int sheet_tree_place(struct sheet_layout *layout);

#endif
