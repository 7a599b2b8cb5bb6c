/* SPDX-License-Identifier: MIT */
/*
 * Where every row of one kind of sheet belongs, in all snapshots of a comparison:
 * under which key, below which other row of the same key, and which row of A is
 * the same cgroup.
 *
 * Keys of both sides have common numbers.  A cgroup of A that was renamed has the
 * key that it has in B.
 */
#ifndef ANALYZE_SHEET_LAYOUT_H
#define ANALYZE_SHEET_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "model/snapshot.h"

struct comparison;
struct compare_options;
struct compare_side;
struct dictionary;

/* The key of sheets that have one row. */
#define HOST_KEY "host"

#define NO_ROW UINT32_MAX

/* One snapshot's sheet.  Arrays are by row, or by key. */
struct sheet_run {
	const struct snapshot *snapshot;
	const struct sheet *sheet;
	uint32_t *key_of_row;
	uint32_t *above;      /* nearest ancestor under the same key, or NO_ROW */
	uint32_t *partner;    /* of an interval: the same cgroup on the other side, or NO_ROW */
	uint32_t *population; /* by key: rows, or processes */
	uint8_t *has_key;     /* by key: whether the snapshot has such a group at all */
	/* Nothing was read, so that a group may be there although it has no row. */
	bool is_unread;
	/* A cgroup without a row may have been there all the same: the capture was limited. */
	bool is_filtered;
};

struct sheet_key {
	uint32_t group;	 /* in the comparison, or NO_ROW before it is needed */
	uint32_t became; /* of A: the key that it has in B, or NO_ROW */
	uint32_t was;	 /* of B: the key that it had in A, or NO_ROW */
};

struct sheet_layout {
	enum sheet_id sheet;
	struct sheet_run *runs; /* before, then after */
	size_t before_count, run_count;
	struct dictionary *keys; /* a key's number is that of its text */
	size_t key_count;
	ARRAY_OF(struct sheet_key) numbered;
	struct dictionary *paths; /* of cgroups: the same number on all sides */
	struct arena arena;
};

/*
 * Lays out a sheet of all snapshots.  Groups that the comparison has on the
 * sheet's own axis are found by their keys.  0 or -ENOMEM.
 */
int sheet_layout_init(struct sheet_layout *layout, enum sheet_id sheet,
		      const struct compare_side *before, const struct compare_side *after,
		      const struct compare_options *options, const struct comparison *comparison);
void sheet_layout_clear(struct sheet_layout *layout); /* all zeros is allowed */

/* A number for each of `count` things, all NO_ROW, in the layout's arena; NULL without memory. */
uint32_t *sheet_layout_numbers(struct sheet_layout *layout, size_t count);

/* The group of a key, added to the comparison when it is new.  0 or -ENOMEM. */
int sheet_layout_group(struct sheet_layout *layout, uint32_t key, struct comparison *comparison,
		       uint32_t *ret);

#endif
