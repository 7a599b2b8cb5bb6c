/* SPDX-License-Identifier: MIT */
/*
 * Do the runs of one side differ from those of the other by more than chance?
 *
 * The test of Mann and Whitney asks only which runs are larger, so a single wild
 * run cannot decide it and nothing is assumed about how values are spread.  Up
 * to 20 runs a side the p-value is exact, ties included: of all ways to deal the
 * same values out to two sides of these sizes, the share that sets the sides at
 * least as far apart.  With more runs it is the normal approximation, corrected
 * for ties and continuity.  Two-sided; the same when the sides change places.
 *
 *	mann_whitney_new(&test);
 *	for each row: mann_whitney_judge(test, before, 5, after, 5, &row->significance);
 *	mann_whitney_free(test);
 *
 * Values are any numbers but NaN.  Distributions are kept from one call to the
 * next, so that thousands of rows cost little more than their sorting.
 */
#ifndef ANALYZE_MANN_WHITNEY_H
#define ANALYZE_MANN_WHITNEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mann_whitney;
struct significance;

/* With fewer runs a side, nothing is claimed. */
#define RUNS_TO_CLAIM 3
/* A difference with a larger p is noise. */
#define SIGNIFICANCE_ALPHA 0.10

/* Returns 0 and a test the caller frees, or -ENOMEM. */
int mann_whitney_new(struct mann_whitney **ret);
void mann_whitney_free(struct mann_whitney *test); /* NULL is allowed */

/* The p-value; 1 when a side has no run.  0 or -ENOMEM. */
int mann_whitney_p(struct mann_whitney *test, const double *before, size_t before_count,
		   const double *after, size_t after_count, double *ret_p);

/*
 * Fills in what a row says about its runs: always the spread of each side; the
 * test and its verdict when both sides have enough runs.  0 or -ENOMEM.
 */
int mann_whitney_judge(struct mann_whitney *test, const double *before, size_t before_count,
		       const double *after, size_t after_count, struct significance *ret);

/*
 * The median: for an even count the mean of the two in the middle, rounded down
 * where values are whole.  Changes the array; 0 when there are no values.
 */
double median_real(double *values, size_t count);
uint64_t median_whole(uint64_t *values, size_t count, bool is_signed); /* two's complement */

#endif
