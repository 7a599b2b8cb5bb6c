/* SPDX-License-Identifier: MIT */
/*
 * A sheet: a table of readings (metric/reading.h) that gets its columns while files are read, for
 * example one row for each cgroup and one column for each key in the cgroups' files.
 *
 * A sheet that is all zeros is empty and valid.  It owns its columns and their
 * descriptors; texts of cells are numbers of strings in the snapshot's dictionary.
 */
#ifndef MODEL_SHEET_H
#define MODEL_SHEET_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "model/snapshot/column.h"

struct dictionary;

/* Longest name of a column, with its NUL. */
#define SHEET_NAME_SIZE 128
/* Far more than any kernel has; a hostile file may claim more. */
#define SHEET_COLUMNS_MAX 8192

struct sheet {
	struct arena arena;
	struct dictionary *names; /* of the columns: number n is column n - 1 */
	uint32_t *keys;		  /* what each row is about: see enum sheet_id */
	size_t row_count, row_capacity;
	ARRAY_OF(struct column) columns;
};

void sheet_clear(struct sheet *sheet);

/* 0 or -ENOMEM. */
int sheet_add_row(struct sheet *sheet, uint32_t key, uint32_t *ret_row);

/*
 * Sets a cell; adds the column when it is new.  0, -ENOMEM, or -E2BIG when the name is too long or
 * the sheet has too many columns.
 */
int sheet_set(struct sheet *sheet, uint32_t row, const char *name, enum cell_state state,
	      uint64_t value);

/*
 * Set the reason or the origin of a column, and add the column when it is new.  Only the first
 * reason and the first origin are kept.  Errors as sheet_set().
 */
int sheet_set_absent(struct sheet *sheet, const char *name, const char *reason);
int sheet_set_origin(struct sheet *sheet, const char *name, const char *origin);

/* The column of that name, or NULL. */
const struct column *sheet_find(const struct sheet *sheet, const char *name);

/* In a table of new keys: the row is dropped. */
#define SHEET_KEY_GONE UINT32_MAX

/*
 * Gives each row the key new_keys[its key], or drops it.  The reason is that of columns that lose all
 * their cells by that.  0 or -ENOMEM.
 */
int sheet_move(struct sheet *sheet, const uint32_t *new_keys, const char *reason);

/*
 * Sorts the columns: files in the order of readings.def, and the keys of a file in the order in
 * which they were found.  A collector's last step.  0 or -ENOMEM.
 */
int sheet_finish(struct sheet *sheet);

#endif
