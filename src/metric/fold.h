/* SPDX-License-Identifier: MIT */
/*
 * Many values of one metric made into one, with its coverage: how many of the
 * group's tasks (or processes) were measured.  A fold of nothing is absent, not
 * zero.
 *
 *	struct fold fold;
 *	fold_init(&fold, &metrics[METRIC_majflt]);
 *	for each task: fold_add(&fold, value) or fold_skip(&fold)
 *	fold_finish(&fold);
 */
#ifndef METRIC_FOLD_H
#define METRIC_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

enum fold_shape {
	SHAPE_ABSENT,
	SHAPE_NUMBER, /* number */
	SHAPE_REAL, /* real: derived metrics; with has_number the same exactly, in two's complement */
	SHAPE_RANGE, /* min, max */
	SHAPE_MODE,  /* mode, mode_count */
	SHAPE_CPUS,  /* min, max CPUs; number is the list's dictionary id if uniform */
};

/* Distinct categories counted apart; what does not fit is counted in `measured` alone. */
#define FOLD_TALLIES 16

struct fold {
	const struct metric *metric;
	enum fold_shape shape; /* valid after fold_finish() */
	uint32_t measured;
	uint32_t population;
	uint64_t number;
	bool has_number; /* of FOLD_MIN: some task had an event; of formulas: a whole number */
	double real;
	int64_t min, max;
	uint64_t mode; /* category code; a tie goes to the smallest text */
	uint32_t mode_count;
	bool uniform; /* every cpu set is the same one */
	unsigned tally_count;
	struct {
		uint64_t code;
		uint32_t count;
	} tallies[FOLD_TALLIES];
};

void fold_init(struct fold *fold, const struct metric *metric);
void fold_add(struct fold *fold, uint64_t value);
void fold_add_cpus(struct fold *fold, uint64_t list_id, unsigned cpus); /* for FOLD_CPUSET */
void fold_skip(struct fold *fold);					/* a task without a value */
void fold_finish(struct fold *fold);

/*
 * Evaluates a derived metric from its folded inputs (in the formula's order).
 * Absent when an input is absent or the denominator is 0; measured is the
 * smallest of the inputs'.
 */
void fold_formula(struct fold *ret, const struct metric *metric, const struct fold *inputs);

/*
 * The formula itself, of inputs in its order.  Writes the number where the formula
 * is whole.  False when its denominator is 0.
 */
bool formula_evaluate(const struct formula *formula, const uint64_t *inputs, uint64_t *ret_number,
		      double *ret_real);
bool formula_is_whole(
	const struct formula *formula); /* whole of whole inputs, in two's complement */

/* A number to sort by; false when there is none (absent, categories). */
bool fold_number(const struct fold *fold, double *ret);

#endif
