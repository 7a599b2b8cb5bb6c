/* SPDX-License-Identifier: MIT */
/*
 * A column: the values of one metric, with a cell for each row.  Rows are threads, processes,
 * cgroups or whatever else the table is about.
 *
 * A cell is absent, a number, unlimited, or a text.  So a limit that could not be read (absent),
 * one that nobody set (unlimited) and one of 0 differ.  A column with absent cells has the reason
 * for them, and an origin when its values come from another file than the metric's name says.
 *
 * A column does not know how many rows it has; the table that it belongs to does.  Reasons and
 * origins are in the table's arena.
 */
#ifndef MODEL_COLUMN_H
#define MODEL_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct arena;

enum cell_state {
	CELL_ABSENT,
	CELL_NUMBER, /* in the metric's unit; see metric.h for ordinals, categories and cpu sets */
	CELL_UNLIMITED,
	CELL_TEXT, /* the number of a string in the snapshot's dictionary */
	CELL_STATE_COUNT,
};

struct column {
	const struct metric *metric;
	const char *absent; /* why cells are missing, or NULL */
	const char *origin; /* NULL: what the metric says */
	uint64_t *values;   /* NULL as long as no cell was set */
	uint8_t *states;    /* one byte a row, so that threads can set neighbouring cells */
};

/* Makes room for rows up to `to`, where there was room for `from`.  0 or -ENOMEM. */
int column_grow(struct column *column, size_t from, size_t to);
void column_free(struct column *column);

static inline void column_set(struct column *column, uint32_t row, enum cell_state state,
			      uint64_t value)
{
	column->values[row] = value;
	column->states[row] = (uint8_t)state;
}

/* A NULL column has no cells. */
static inline enum cell_state column_get(const struct column *column, uint32_t row, uint64_t *ret)
{
	if (!column || !column->values || column->states[row] == CELL_ABSENT)
		return CELL_ABSENT;
	*ret = column->values[row];
	return (enum cell_state)column->states[row];
}

/* How many cells of the first `rows` are set. */
size_t column_measured(const struct column *column, size_t rows);

/* Copy the text into the arena; once one is set, later calls change nothing.  0 or -ENOMEM. */
int column_set_absent(struct column *column, struct arena *arena, const char *reason);
int column_set_origin(struct column *column, struct arena *arena, const char *origin);

#endif
