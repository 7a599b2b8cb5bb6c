/* SPDX-License-Identifier: MIT */
/*
 * Folds a metric over all groups at once: column by column, so that a hundred
 * thousand groups cost no more than their tasks.
 *
 * Cells hold each snapshot's own values; moves hold how a counter grew in an
 * interval.
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
 * One group's value in one snapshot: a sum, a maximum, a minimum or a formula.
 * There are many and each metric walks all of them, so they are small.
 */
struct cell {
	union {
		uint64_t number; /* two's complement where compare_is_signed() */
		double real;	 /* where compare_is_ratio() */
	};
	uint32_t measured;
	bool known;
};

/* How much one group added to a counter during the interval. */
struct move {
	uint64_t gained;
	uint64_t lost;	 /* falls of computed counters that may waver */
	uint64_t ended;	 /* the part of `gained` that threads did that ended */
	uint32_t known;	 /* tasks, processes and exited threads' totals behind it */
	uint32_t resets; /* tasks whose counter fell: it restarted, so its growth is not known */
};

/* Whether a derived metric is a sum or difference of whole numbers, not a ratio. */
bool compare_is_whole(const struct metric *metric);
bool compare_is_ratio(const struct metric *metric); /* derived, and not whole */
bool compare_is_signed(const struct metric *metric);
/* Whether the metric is 0 for a group that does not exist. */
bool compare_adds_up(const struct metric *metric);

/* Folds a stored metric or a reading that folds to a number. */
void cells_fold(struct cell *cells, size_t groups, const struct compare_run *run,
		const struct metric *metric);

/* Adds the cells, or moves, of each group to the group that contains it: see compare_layout. */
void cells_climb(struct cell *cells, const struct compare_layout *layout,
		 const struct metric *metric);
void moves_climb(struct move *moves, uint32_t *unknown, const struct compare_layout *layout);

/*
 * Folds a derived metric from the cells of its inputs, in the formula's order.
 * `spared` has a bit for each input that the formula does without, never the
 * first.
 */
void cells_formula(struct cell *cells, size_t groups, const struct metric *metric, uint32_t spared,
		   struct cell *const *inputs);

double cell_real(const struct cell *cell, const struct metric *metric);

/*
 * Folds a counter of an interval.  `unknown` counts, by group, the threads that
 * ended and whose work nobody reports.  Without sums the work of exited threads
 * is left out, and all of them count as unknown.
 */
void moves_fold(struct move *moves, uint32_t *unknown, const struct compare_layout *layout,
		const struct metric *metric, struct exited_sums *sums);

/* Turns moves into input for cells_formula(). */
void cells_of_moves(struct cell *cells, const struct move *moves, size_t groups);

#endif
