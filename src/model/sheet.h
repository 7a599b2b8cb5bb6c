/* SPDX-License-Identifier: MIT */
/*
 * A table of readings (metric/reading.h) whose columns are found while reading:
 * cgroups by what their files say, processes by kinds of memory.
 *
 * A cell is absent, a number, unlimited, or a text; a limit that could not be
 * read, one that nobody set and one of 0 are three different things.  A column
 * with missing cells may have a reason, and an origin when its values come from
 * another file than its name says.
 *
 * A sheet that is all zeros is empty and valid.  It owns its columns; texts of
 * cells are numbers of strings in the snapshot's dictionary.
 */
#ifndef MODEL_SHEET_H
#define MODEL_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"

struct dictionary;

enum cell_state {
	CELL_ABSENT,
	CELL_NUMBER,
	CELL_UNLIMITED,
	CELL_TEXT,
	CELL_STATE_COUNT,
};

/* Longest name of a column, with its NUL. */
#define SHEET_NAME_SIZE 128
/* No file of any kernel comes near; a hostile one may. */
#define SHEET_COLUMNS_MAX 8192

struct sheet_column {
	const char *name;
	const char *origin; /* NULL: the file that the name says */
	const char *absent; /* why cells are missing, or NULL */
	uint64_t
		*values; /* NULL as long as no cell was set; a signed setting is two's complement */
	uint8_t *states;
};

struct sheet {
	struct arena arena;
	struct dictionary *names; /* of the columns: number n is column n - 1 */
	uint32_t *keys;		  /* what each row is about: see enum sheet_id */
	size_t row_count, row_capacity;
	ARRAY_OF(struct sheet_column) columns;
};

void sheet_clear(struct sheet *sheet);

/* 0 or -ENOMEM. */
int sheet_add_row(struct sheet *sheet, uint32_t key, uint32_t *ret_row);

/*
 * Sets a cell; the column is added when it is new.  0, -ENOMEM, or -E2BIG when
 * the name is too long or the sheet has too many columns.
 */
int sheet_set(struct sheet *sheet, uint32_t row, const char *name, enum cell_state state,
	      uint64_t value);

/*
 * Say something about a column, which is added when it is new.  The first reason
 * and the first origin are kept.  Errors as sheet_set().
 */
int sheet_set_absent(struct sheet *sheet, const char *name, const char *reason);
int sheet_set_origin(struct sheet *sheet, const char *name, const char *origin);

/* The column of that name, or NULL. */
const struct sheet_column *sheet_find(const struct sheet *sheet, const char *name);

static inline enum cell_state sheet_get(const struct sheet_column *column, uint32_t row,
					uint64_t *ret)
{
	if (!column || !column->states || column->states[row] == CELL_ABSENT)
		return CELL_ABSENT;
	*ret = column->values[row];
	return (enum cell_state)column->states[row];
}

/* How many cells of the column are set. */
size_t sheet_measured(const struct sheet *sheet, const struct sheet_column *column);

/*
 * Orders the columns: files as in readings.def, and what a file has as it was
 * found.  A collector's last step.  0 or -ENOMEM.
 */
int sheet_finish(struct sheet *sheet);

#endif
