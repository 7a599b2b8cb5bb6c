/* SPDX-License-Identifier: MIT */
/*
 * Fills the cells of the cgroups' sheet.  Keeps track of which cells of a row are set already,
 * since v2 and v1 files may have the same value, and of where a column's values come from.
 */
#ifndef COLLECT_CGROUP_COLUMNS_H
#define COLLECT_CGROUP_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "model/snapshot/sheet.h"

struct dictionary;

/*
 * The v1 file, and the key in it, that a cell's value is from.  NULL instead: the v2 file that the
 * column is named after.
 */
struct cgroup_origin {
	const char *hierarchy;
	const char *file;
	const char *key;
};

struct cgroup_column {
	uint32_t latest; /* row whose cell was set last, plus 1 */
	bool is_v2;	 /* some cells are from the v2 file that it is named after */
	const char *origin;
};

struct cgroup_columns {
	struct sheet *sheet;
	struct arena arena;
	struct dictionary *names; /* number n is column n - 1 */
	ARRAY_OF(struct cgroup_column) list;
	size_t most; /* limit of columns: a hostile tree must not make a giant table */
};

/* The sheet must have its rows.  0 or -ENOMEM. */
int cgroup_columns_open(struct cgroup_columns *columns, struct sheet *sheet);
void cgroup_columns_close(struct cgroup_columns *columns);

/*
 * Sets a cell unless the row has it already.  Rows must come one after the other.  As sheet_set().
 */
int cgroup_columns_set(struct cgroup_columns *columns, uint32_t row, const char *name,
		       enum cell_state state, uint64_t value, const struct cgroup_origin *origin);

/* Whether the row that is being filled has the cell. */
bool cgroup_columns_has(struct cgroup_columns *columns, uint32_t row, const char *name);

/* Notes in each column with values from v1 files which files these are.  0 or -ENOMEM. */
int cgroup_columns_tell_origins(struct cgroup_columns *columns);

#endif
