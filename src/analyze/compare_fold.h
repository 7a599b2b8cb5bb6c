/* SPDX-License-Identifier: MIT */
/*
 * A metric over all groups at once: column by column, so that a hundred thousand
 * groups cost what their tasks do.
 *
 * Cells are each snapshot's own; moves are what an interval did to a counter.
 */
#ifndef ANALYZE_COMPARE_FOLD_H
#define ANALYZE_COMPARE_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct compare_layout;
struct compare_run;
struct exited_sums;

/*
 * One group's value in one snapshot: a sum, a largest or a smallest one, or a
 * formula.  There are many and all are walked for every metric, so they are small.
 */
struct cell {
	union {
		uint64_t number; /* two's complement where compare_is_signed() */
		double real;	 /* where compare_is_ratio() */
	};
	uint32_t measured;
	bool known;
};

/* What one group did to a counter in between. */
struct move {
	uint64_t gained;
	uint64_t lost;	 /* of counters that are worked out and may waver */
	uint32_t known;	 /* tasks, processes and exited threads' totals behind it */
	uint32_t resets; /* tasks whose counter fell: it began again, and nothing is known */
};

/* Whether the metric folds to a number: all but ranges, modes and cpu sets. */
bool compare_is_number(enum metric_id id);
/* Whether a derived metric is a sum or difference of whole numbers, not a ratio. */
bool compare_is_whole(enum metric_id id);
bool compare_is_ratio(enum metric_id id); /* derived, and not whole */
bool compare_is_signed(enum metric_id id);
/* Whether the metric of a group that is not there is 0. */
bool compare_adds_up(enum metric_id id);

/* A stored metric that folds to a number. */
void cells_fold(struct cell *cells, size_t groups, const struct compare_run *run,
		enum metric_id id);

/*
 * A derived one from the cells of its inputs, in the formula's order.  Spared are
 * those that it does without, a bit each, never the first.
 */
void cells_formula(struct cell *cells, size_t groups, enum metric_id id, uint32_t spared,
		   struct cell *const *inputs);

double cell_real(const struct cell *cell, enum metric_id id);

/*
 * A counter of an interval; and by group the threads that ended and whose work
 * nobody tells.
 */
void moves_fold(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
		enum metric_id id, struct exited_sums *sums);

/* The same without what exited threads did: all of those are then not told of. */
void moves_fold_living(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
		       enum metric_id id);

/* What was done, as input of cells_formula(). */
void cells_of_moves(struct cell *cells, const struct move *moves, size_t groups);

#endif
