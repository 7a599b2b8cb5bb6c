/* SPDX-License-Identifier: MIT */
/*
 * One metric folded over all groups and snapshots of a comparison, ready to be
 * made into rows.
 *
 *	compare_work_init(&work, &layout);
 *	for each metric: compare_work_fold(&work, metric); use work.sides, work.changes ...
 *	compare_work_clear(&work);
 */
#ifndef ANALYZE_COMPARE_WORK_H
#define ANALYZE_COMPARE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/compare/fold/compare_fold.h"
#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/comparison.h"
#include "analyze/match/exited.h"

/* All arrays are by group.  Their memory is reused from one metric to the next. */
struct compare_work {
	const struct compare_layout *layout;
	struct arena arena;	     /* of all arrays */
	struct cell **runs;	     /* of each snapshot */
	struct cell *medians[SIDES]; /* of several snapshots a side, else NULL */
	uint64_t *numbers;	     /* room for one group's runs */
	double *values[SIDES];

	/* The metric in hand. */
	const struct metric *metric;
	const struct cell *sides[SIDES];
	bool has_moves; /* a counter of an interval */
	bool is_reset;	/* it restarted for all in between: no difference is known */
	struct move *moves;
	uint32_t *unknown; /* threads that ended and whose work nobody reports */
	bool has_interval; /* a derived metric of an interval */
	struct cell *interval;
	bool is_ratio;
	bool is_rate;	 /* cells are per second of an interval */
	bool is_real;	 /* cells are real: one of both */
	double *amounts; /* what a ratio is about: its first input */
	double *changes; /* differences, NAN where there is none */
	double total;	 /* of all changes; of a ratio, of all amounts */

	/* Inputs of a derived metric, for one snapshot and over the interval. */
	struct cell *inputs[FORMULA_INPUTS];
	struct cell *done[FORMULA_INPUTS];
	struct exited_sums sums;
};

/* The layout must outlive it.  0 or -ENOMEM; clear it either way. */
int compare_work_init(struct compare_work *work, const struct compare_layout *layout);
void compare_work_clear(struct compare_work *work);

/* Takes a metric in hand, with nothing known about it yet. */
void compare_work_begin(struct compare_work *work, const struct metric *metric);

/* Takes a metric that is compare_is_number(), and folds it.  0 or -ENOMEM. */
int compare_work_fold(struct compare_work *work, const struct metric *metric);

/* The same, but of a counter in an interval only the changes: its sides must not be looked at. */
int compare_work_fold_changes(struct compare_work *work, const struct metric *metric);

/* Puts the values of a side's runs into work->values.  Returns how many runs have one. */
size_t compare_work_gather(const struct compare_work *work, int side, size_t group);

static inline uint32_t compare_work_population(const struct compare_work *work, int side,
					       size_t group)
{
	return work->layout->population[side][work->metric->scope][group];
}

static inline double compare_work_real(const struct compare_work *work, const struct cell *cell)
{
	return work->is_real ? cell->real : cell_real(cell, work->metric);
}

/* Whether a side has the group, or may have it, measured or not. */
static inline bool compare_work_has(const struct compare_work *work, int side, size_t group)
{
	return work->layout->has[side] ? work->layout->has[side][group] :
					 compare_work_population(work, side, group) > 0;
}

/* Fills in changes and total of the folded metric. */
void compare_work_find_changes(struct compare_work *work);

/* Fills in the values, difference and rates of a row, whose state is set. */
void compare_work_fill(const struct compare_work *work, const struct comparison *comparison,
		       size_t group, struct comparison_row *row);

/*
 * The rate over the lifetimes of the group's members in all runs of a side;
 * false when some are unknown.
 */
bool compare_work_life_rate(const struct compare_work *work, int side, size_t group, double *ret);

/* B less A of whole numbers. */
struct difference difference_of_whole(uint64_t before, uint64_t after, bool is_signed);

#endif
