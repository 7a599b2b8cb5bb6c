/* SPDX-License-Identifier: MIT */
/*
 * How much CPU each row used in the last moments, for the small graph in its line.  A row is known
 * by its identity, so one that moves or is not on the screen keeps its past; one that is gone for as
 * long as a graph lasts is forgotten.
 */
#ifndef TUI_ROW_HISTORY_H
#define TUI_ROW_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"

struct grouping;
struct moment;
struct text;

#define ROW_MOMENTS 8

struct row_past {
	uint64_t key;  /* 0: the slot is free */
	uint32_t seen; /* the number of the moment that was added last */
	uint8_t levels
		[ROW_MOMENTS]; /* by number of the moment; 0: not known, else a height from 1 on */
};

/* All zeros is empty and valid. */
struct row_history {
	struct row_past *slots;
	size_t capacity, count; /* capacity is 0 or a power of two */
	uint32_t now;		/* the number of the moment */
	uint64_t unix_ns;	/* its time */
	int axis;
};

/*
 * Adds the moment, unless it was added before.  One that does not follow the last one, or is in
 * other groups, begins anew.  Without memory there is no graph.
 */
void row_history_add(struct row_history *history, const struct grouping *grouping,
		     const struct moment *moment);
/* The graph of a group, ROW_MOMENTS columns, in blocks or in ASCII. */
void row_history_graph(const struct row_history *history, const struct grouping *grouping,
		       size_t group, bool has_blocks, struct text *out);
/* One column of a graph: a share of its height, of 1. */
void row_graph_append(struct text *out, double share, bool is_known, bool has_blocks);
void row_history_clear(struct row_history *history);

#endif
