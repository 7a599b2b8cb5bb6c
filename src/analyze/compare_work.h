/* SPDX-License-Identifier: MIT */
/*
 * One metric folded over all groups and snapshots of a comparison, ready to be
 * made into rows.
 *
 *	compare_work_init(&work, &layout);
 *	for each metric: compare_work_fold(&work, id); use work.sides, work.changes ...
 *	compare_work_clear(&work);
 */
#ifndef ANALYZE_COMPARE_WORK_H
#define ANALYZE_COMPARE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/compare_fold.h"
#include "analyze/comparison.h"
#include "analyze/exited.h"

struct compare_layout;

#define SIDES 2	 /* before, after */
#define SCOPES 2 /* of metrics */

/* By group, all of it.  Memory is kept from one metric to the next. */
struct compare_work {
	const struct compare_layout *layout;
	uint32_t *population[SIDES][SCOPES]; /* members: of all runs, and those that A missed */
	bool *both[SCOPES];		     /* whether both sides have members */
	struct cell **runs;		     /* of each snapshot */
	struct cell *medians[SIDES];	     /* of several snapshots a side, else NULL */
	uint64_t *numbers;		     /* room for one group's runs */
	double *values[SIDES];

	/* Of the metric in hand. */
	enum metric_id id;
	const struct cell *sides[SIDES];
	bool has_moves; /* a counter of an interval */
	struct move *moves;
	uint32_t *unknown; /* threads that ended and whose work nobody tells */
	bool has_interval; /* a derived metric of an interval */
	struct cell *interval;
	bool is_ratio;
	double *amounts; /* that a ratio is about: of its first input */
	double *changes; /* differences, NAN where there is none */
	double total;	 /* of all changes; of a ratio, of all amounts */

	/* Inputs of a derived metric, of one snapshot and over the interval. */
	struct cell *inputs[FORMULA_INPUTS];
	struct cell *done[FORMULA_INPUTS];
	struct exited_sums sums;
};

/* The layout must outlive it.  0, or -ENOMEM and there is nothing to clear. */
int compare_work_init(struct compare_work *work, const struct compare_layout *layout);
void compare_work_clear(struct compare_work *work);

/* A metric that compare_is_number().  0 or -ENOMEM. */
int compare_work_fold(struct compare_work *work, enum metric_id id);

/* Puts the values of a side's runs into work->values; how many have one. */
size_t compare_work_gather(const struct compare_work *work, int side, size_t group);

static inline uint32_t compare_work_population(const struct compare_work *work, int side,
					       size_t group)
{
	return work->population[side][metrics[work->id].scope][group];
}

static inline bool compare_work_is_on_both(const struct compare_work *work, size_t group)
{
	return work->both[metrics[work->id].scope][group];
}

/* The change of a group, exactly. */
struct difference compare_work_difference(const struct compare_work *work, size_t group);

/* B less A of whole numbers. */
struct difference difference_of_whole(uint64_t before, uint64_t after, bool is_signed);
struct difference difference_of_real(double before, double after);

#endif
