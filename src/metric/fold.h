/* SPDX-License-Identifier: MIT */
/*
 * Folds many values of one metric into one, with its coverage: how many of the group's tasks (or
 * processes, or cgroups) were measured.  A fold of no values is absent, not zero.
 *
 *	struct fold fold;
 *	fold_init(&fold, &metrics[METRIC_majflt]);
 *	for each task: fold_add(&fold, value) or fold_skip(&fold)
 *	fold_finish(&fold);
 *
 * Limits are not added up: equal limits fold to that limit, different ones to a range.  Texts fold
 * to the most frequent one.  Texts must outlive the fold.
 */
#ifndef METRIC_FOLD_H
#define METRIC_FOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

enum fold_shape {
	SHAPE_ABSENT,
	SHAPE_NUMBER, /* number */
	SHAPE_REAL,   /* real, of derived metrics; exact in `number` if has_number */
	SHAPE_RANGE,  /* min, max */
	SHAPE_MODE,   /* mode, mode_count */
	SHAPE_CPUS,   /* min, max CPUs; text is the list if it is the same for all, else NULL */
	SHAPE_TEXT,   /* text, mode_count */
	SHAPE_UNLIMITED,
	SHAPE_LIMITS, /* from min to unlimited */
};

/* At most this many distinct categories are counted each; further ones count in `measured` only. */
#define FOLD_TALLIES 16

struct fold {
	const struct metric *metric;
	enum fold_shape shape; /* valid after fold_finish() */
	uint32_t measured;
	uint32_t population;
	uint32_t unlimited, texts; /* of those measured */
	uint64_t number;
	bool has_number; /* FOLD_MIN: some task had an event; formulas: `number` is set */
	double real;
	int64_t min, max;
	uint64_t mode; /* category code; a tie goes to the smallest text */
	uint32_t mode_count;
	const char *text;
	uint64_t digest; /* of all texts in any order, also of those without a tally */
	unsigned tally_count;
	struct {
		uint64_t code;	  /* of a category */
		const char *text; /* NULL for a category */
		uint32_t count;
	} tallies[FOLD_TALLIES];
};

void fold_init(struct fold *fold, const struct metric *metric);
void fold_add(struct fold *fold, uint64_t value);
void fold_add_cpus(struct fold *fold, const char *list, unsigned cpus); /* for FOLD_CPUSET */
void fold_add_text(struct fold *fold, const char *text);
void fold_add_unlimited(struct fold *fold);
void fold_skip(struct fold *fold); /* a task without a value */
void fold_finish(struct fold *fold);

/* Whether two finished folds of one metric have the same value. */
bool fold_equals(const struct fold *a, const struct fold *b);

/*
 * Evaluates a derived metric from its folded inputs (in the formula's order).  The result is
 * absent when an input is absent or the denominator is 0; its `measured` is the smallest of the
 * inputs'.
 */
void fold_formula(struct fold *ret, const struct metric *metric, const struct fold *inputs);

/*
 * Evaluates the formula alone, with the inputs in its order.  Sets *ret_number only if the formula
 * is whole (see below).  Returns false when the denominator is 0.
 */
bool formula_evaluate(const struct formula *formula, const uint64_t *inputs, uint64_t *ret_number,
		      double *ret_real);
bool formula_is_whole(
	const struct formula *formula); /* whole inputs give a whole result, in two's complement */

/* A number to sort by; false when there is none (absent, categories). */
bool fold_number(const struct fold *fold, double *ret);

#endif
