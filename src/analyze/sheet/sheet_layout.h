/* SPDX-License-Identifier: MIT */
/*
 * Assigns every row of one kind of sheet, in all snapshots of a comparison: to
 * a key, to the row of the same key above it, and to the row of A that is the
 * same cgroup.
 *
 * Keys of both sides share their numbers.  A cgroup of A that was renamed has
 * the key that it has in B.
 */
#ifndef ANALYZE_SHEET_LAYOUT_H
#define ANALYZE_SHEET_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/compare/layout/compare_layout.h"
#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"

struct dictionary;

/* The key of sheets that have one row. */
#define HOST_KEY "host"

struct sheet_key {
	uint32_t group;	 /* in the comparison, or NO_ROW before it is needed */
	uint32_t became; /* of A: the key that it has in B, or NO_ROW */
	uint32_t was;	 /* of B: the key that it had in A, or NO_ROW */
};

/*
 * The groups of this layout are keys.  Most keys get no row in the comparison,
 * so they need no group there.
 */
struct sheet_layout {
	struct compare_layout base; /* rows of METRIC_OF_ROW only */
	enum sheet_id sheet;
	struct dictionary *keys; /* a key's number is that of its text */
	ARRAY_OF(struct sheet_key) numbered;
};

/*
 * Lays out a sheet of all snapshots.  Groups that the comparison already has on
 * the sheet's own axis are found by their keys.  0 or -ENOMEM.
 */
int sheet_layout_init(struct sheet_layout *layout, enum sheet_id sheet,
		      const struct compare_side *sides, const struct compare_options *options,
		      const struct comparison *comparison);
void sheet_layout_clear(struct sheet_layout *layout); /* all zeros is allowed */

/*
 * Fills in `above` of all runs, whose keys must be known, and for an interval
 * which row is which.  Cgroups with the same path are the same.  One that was
 * removed and made again shows by counters that fell.  0 or -ENOMEM.
 */
int sheet_tree_place(struct sheet_layout *layout);

/*
 * Why a side has no value of a reading from the source that captures call
 * `source`; NULL when unknown.
 */
const char *sheet_layout_reason(const struct sheet_layout *layout, const struct metric *metric,
				int side, const char *source);

/* An array of `count` numbers, all NO_ROW, in the layout's arena; NULL without memory. */
uint32_t *sheet_layout_numbers(struct sheet_layout *layout, size_t count);

/* The group of a key, added to the comparison when it is new.  0 or -ENOMEM. */
int sheet_layout_group(struct sheet_layout *layout, uint32_t key, struct comparison *comparison,
		       uint32_t *ret);

#endif
