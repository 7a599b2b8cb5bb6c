/* SPDX-License-Identifier: MIT */
#include "analyze/outcome/exact_test.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Probabilities that differ by less are equal: they were rounded. */
#define EQUAL (1 + 1e-7)
/* 95 % of a normal distribution lie within so many standard deviations of its middle. */
#define WILSON_Z 1.959963984540054

/* Failures dealt out by chance: how many the group may have. */
struct deal {
	uint64_t jobs, all, failures;
	uint64_t least, most;
};

static struct deal deal_of(uint64_t jobs, uint64_t all, uint64_t failures)
{
	return (struct deal){
		.jobs = jobs,
		.all = all,
		.failures = failures,
		.least = jobs + failures > all ? jobs + failures - all : 0,
		.most = jobs < failures ? jobs : failures,
	};
}

static struct deal deal_of_table(const struct outcome_table *table)
{
	return deal_of(table->jobs, table->jobs + table->others,
		       table->failures + table->other_failures);
}

static size_t deal_width(const struct deal *deal)
{
	return (size_t)(deal->most - deal->least) + 1;
}

static uint64_t likeliest(const struct deal *deal)
{
	double mode = floor(((double)deal->jobs + 1) * ((double)deal->failures + 1) /
			    ((double)deal->all + 2));

	return (uint64_t)fmax((double)deal->least, fmin((double)deal->most, mode));
}

/* How likely one failure more than `failed` is, in proportion to `failed`. */
static double step(const struct deal *deal, uint64_t failed)
{
	double rest = (double)deal->all - (double)deal->jobs - (double)deal->failures;

	return (double)(deal->jobs - failed) * (double)(deal->failures - failed) /
	       ((double)(failed + 1) * (rest + (double)(failed + 1)));
}

static void scale_to_one(double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	for (size_t i = 0; i < count; i++)
		values[i] /= sum;
}

/*
 * The probability of each number from the least to the most.  They are found by steps away from the
 * likeliest number, so nothing overflows, and what underflows is far below any p that matters.
 */
static double *new_chances(const struct deal *deal)
{
	uint64_t mode = likeliest(deal);
	double *chances = calloc(deal_width(deal), sizeof(*chances));

	if (!chances)
		return NULL;
	chances[mode - deal->least] = 1;
	for (uint64_t i = mode; i < deal->most; i++)
		chances[i + 1 - deal->least] = chances[i - deal->least] * step(deal, i);
	for (uint64_t i = mode; i > deal->least; i--)
		chances[i - 1 - deal->least] = chances[i - deal->least] / step(deal, i - 1);
	scale_to_one(chances, deal_width(deal));
	return chances;
}

/* The probability of each sum of two numbers; the caller frees it. */
static double *new_sums(const double *first, size_t first_count, const double *second,
			size_t second_count)
{
	double *sums = calloc(first_count + second_count - 1, sizeof(*sums));

	for (size_t i = 0; sums && i < first_count; i++)
		for (size_t j = 0; j < second_count; j++)
			sums[i + j] += first[i] * second[j];
	return sums;
}

static double share_as_unlikely(const double *chances, size_t count, size_t seen)
{
	double unlikely = 0;

	for (size_t i = 0; i < count; i++)
		if (chances[i] <= chances[seen] * EQUAL)
			unlikely += chances[i];
	return fmin(1, fmax(DBL_MIN, unlikely));
}

int fisher_p(const struct outcome_table *tables, size_t count, double *ret_p)
{
	CLEANUP(free_pointer) double *chances = calloc(1, sizeof(*chances));
	size_t width = 1, seen = 0;

	if (!chances)
		return -ENOMEM;
	chances[0] = 1;
	for (size_t i = 0; i < count; i++) {
		struct deal deal = deal_of_table(&tables[i]);
		CLEANUP(free_pointer) double *own = NULL;
		double *sums;

		if (deal.least == deal.most)
			continue;
		own = new_chances(&deal);
		sums = own ? new_sums(chances, width, own, deal_width(&deal)) : NULL;
		if (!sums)
			return -ENOMEM;
		free(chances);
		chances = sums;
		width += deal_width(&deal) - 1;
		seen += tables[i].failures - deal.least;
	}
	*ret_p = share_as_unlikely(chances, width, seen);
	return 0;
}

/* The logarithm of how many ways there are to choose so many. */
static double log_choose(uint64_t all, uint64_t chosen)
{
	int sign;

	return lgamma_r((double)all + 1, &sign) - lgamma_r((double)chosen + 1, &sign) -
	       lgamma_r((double)(all - chosen) + 1, &sign);
}

static double chance_of(const struct deal *deal, uint64_t failed)
{
	return exp(log_choose(deal->failures, failed) +
		   log_choose(deal->all - deal->failures, deal->jobs - failed) -
		   log_choose(deal->all, deal->jobs));
}

double fisher_least_p(uint64_t jobs, uint64_t all, uint64_t failures)
{
	struct deal deal = deal_of(jobs, all, failures);
	double low = chance_of(&deal, deal.least), high = chance_of(&deal, deal.most);
	double least = fmin(low, high);

	if (deal.least == deal.most)
		return 1;
	return fmin(1, fmax(DBL_MIN, fmax(low, high) <= least * EQUAL ? low + high : least));
}

void wilson_interval(uint64_t failures, uint64_t jobs, double *ret_low, double *ret_high)
{
	double count = (double)jobs, rate = (double)failures / fmax(count, 1);
	double z2 = WILSON_Z * WILSON_Z, whole = count + z2;
	double centre = (count * rate + z2 / 2) / whole;
	double reach = WILSON_Z * sqrt(count * rate * (1 - rate) + z2 / 4) / whole;

	*ret_low = failures ? fmax(0, centre - reach) : 0;
	*ret_high = failures < jobs ? fmin(1, centre + reach) : 1;
}

static int by_p(const void *first, const void *second)
{
	double a = **(double *const *)first, b = **(double *const *)second;

	return (a > b) - (a < b);
}

int holm_correct(double *p_values, size_t count)
{
	CLEANUP(free_pointer) double **order = calloc(count ? count : 1, sizeof(*order));
	double least = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		order[i] = &p_values[i];
	qsort(order, count, sizeof(*order), by_p);
	for (size_t i = 0; i < count; i++)
		least = *order[i] = fmin(1, fmax(least, *order[i] * (double)(count - i)));
	return 0;
}
