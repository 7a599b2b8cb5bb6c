/* SPDX-License-Identifier: MIT */
/*
 * This room asks what goes with failure, and what a job will need, from jobs that ended.  Pure.
 *
 * This header has the statistics: Fisher's exact test, Wilson's interval of a rate, and Holm's
 * correction for many tests.  No normal distribution takes the place of the exact one, so a few jobs
 * are judged as rightly as many.
 */
#ifndef ANALYZE_EXACT_TEST_H
#define ANALYZE_EXACT_TEST_H

#include <stddef.h>
#include <stdint.h>

/* A group of jobs and all the others: how many there are, and how many of them failed. */
struct outcome_table {
	uint64_t jobs, failures;
	uint64_t others, other_failures;
};

/*
 * Fisher's exact test, two-sided: if failures were dealt out to all jobs by chance, how likely is it
 * that the group gets a number of them that is as unlikely as this one, or more so?  Never 0; 1 when
 * the group could have no other number.
 *
 * With several tables, one for each kind of job, failures are dealt out within each kind.  So a
 * group does not stand out because it has many jobs of a kind that fails often.
 *
 * 0, or -ENOMEM.
 */
int fisher_p(const struct outcome_table *tables, size_t count, double *ret_p);

/*
 * The least p that a group of `jobs` out of `all` could have with `failures` failed jobs in all: it
 * says whether a group can pass before anybody looks at which jobs failed.
 */
double fisher_least_p(uint64_t jobs, uint64_t all, uint64_t failures);

/* Wilson's interval of a rate, of 95 %; 0 to 1 when there are no jobs. */
void wilson_interval(uint64_t failures, uint64_t jobs, double *ret_low, double *ret_high);

/*
 * Holm's correction, in place: with it, the chance that any of the tests has a p below 0.05 by chance
 * is at most 0.05, however the tests depend on each other.  0, or -ENOMEM.
 */
int holm_correct(double *p_values, size_t count);

#endif
