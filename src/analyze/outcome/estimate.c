/* SPDX-License-Identifier: MIT */
#include "analyze/outcome/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/outcome/correlation_parts.h"
#include "base/cleanup.h"
#include "base/real.h"

#define MEDIAN 0.5
#define P90 0.9

/* How likely it is that so many of all runs are at most the quantile. */
static double chance_below(size_t below, size_t count, double share)
{
	int sign;

	return exp(lgamma_r((double)count + 1, &sign) - lgamma_r((double)below + 1, &sign) -
		   lgamma_r((double)(count - below) + 1, &sign) + (double)below * log(share) +
		   (double)(count - below) * log1p(-share));
}

struct quantile quantile_of(const double *values, size_t count, double share)
{
	double place = (double)(count - 1) * share;
	size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;
	struct quantile quantile = {
		.value = values[low] + (values[high] - values[low]) * (place - (double)low),
	};
	/* From run `low` to run `high`: low < number of runs below the quantile <= high. */
	size_t below = low + 1;

	if (low < high)
		quantile.confidence = chance_below(below, count, share);
	while (quantile.confidence < ESTIMATE_CONFIDENCE && (low > 0 || high + 1 < count)) {
		double lower = low > 0 ? chance_below(low, count, share) : -1;
		double upper = high + 1 < count ? chance_below(high + 1, count, share) : -1;

		quantile.confidence += fmax(lower, upper);
		if (lower > upper)
			low--;
		else
			high++;
	}
	quantile.low = values[low];
	quantile.high = values[high];
	return quantile;
}

uint64_t quantile_runs_needed(double share)
{
	uint64_t runs = 2;

	while (pow(share, (double)runs) + pow(1 - share, (double)runs) > 1 - ESTIMATE_CONFIDENCE)
		runs++;
	return runs;
}

static void fill_figure(struct estimate_figure *figure, double *values, size_t count)
{
	figure->runs = count;
	if (count == 0)
		return;
	real_sort(values, count);
	figure->median = quantile_of(values, count, MEDIAN);
	figure->p90 = quantile_of(values, count, P90);
	figure->most = values[count - 1];
}

int estimate_make(const struct outcome_job *jobs, size_t count, struct estimate *ret)
{
	CLEANUP(free_pointer) double *values = calloc(count + 1, sizeof(*values));

	*ret = (struct estimate){ 0 };
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		ret->runs += jobs[i].outcome == JOB_SUCCESS;
		ret->failed += jobs[i].outcome == JOB_FAILURE;
		ret->running += jobs[i].outcome == JOB_RUNNING;
		ret->unknown += jobs[i].outcome == JOB_UNKNOWN;
		if (jobs[i].outcome == JOB_SUCCESS && outcome_job_has(&jobs[i], FACTOR_MEMORY))
			ret->memory_runs[jobs[i].memory]++;
	}
	for (unsigned factor = 0; factor < ESTIMATE_COUNT; factor++) {
		size_t known = 0;

		for (size_t i = 0; i < count; i++)
			if (jobs[i].outcome == JOB_SUCCESS && outcome_job_has(&jobs[i], factor))
				values[known++] = jobs[i].values[factor];
		fill_figure(&ret->figures[factor], values, known);
	}
	return 0;
}

bool estimate_knows(const struct estimate *estimate, enum factor factor)
{
	return estimate->figures[factor].runs >= quantile_runs_needed(MEDIAN);
}

bool estimate_fits(const struct estimate *estimate, const struct estimate_room *room)
{
	return estimate->figures[FACTOR_MEMORY].p90.value <= room->memory_bytes;
}
