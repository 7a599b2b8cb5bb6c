/* SPDX-License-Identifier: MIT */
/*
 * What a job will need, from its runs that succeeded: one that failed may have ended early.
 *
 * A quantile is given with an interval that assumes nothing about how values are spread: two of the
 * values seen, between which the real quantile lies with that confidence, if the next runs are like
 * the earlier ones.  It is the narrowest around the quantile with 95 % or more; with too few runs for that,
 * all values seen, whose confidence is lower.
 */
#ifndef ANALYZE_ESTIMATE_H
#define ANALYZE_ESTIMATE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/outcome/correlation.h"

#define ESTIMATE_CONFIDENCE 0.95

/* What is estimated: the factors before this one. */
#define ESTIMATE_COUNT (FACTOR_DURATION + 1)

struct quantile {
	double value;	   /* between the two nearest runs in proportion, as is usual */
	double low, high;  /* of the interval */
	double confidence; /* that the quantile is in it */
};

/* The values are in order and at least one; `share` is above 0 and below 1. */
struct quantile quantile_of(const double *values, size_t count, double share);
/* With how many runs the interval has 95 %. */
uint64_t quantile_runs_needed(double share);

struct estimate {
	uint64_t runs;				/* that succeeded */
	uint64_t failed, running, unknown;	/* left out */
	uint64_t memory_runs[JOB_MEMORY_COUNT]; /* that have peak memory, by how it was found */
	struct estimate_figure {
		uint64_t runs; /* that have the value; with 0 all else is 0, too */
		struct quantile median, p90;
		double most;
	} figures[ESTIMATE_COUNT];
};

/* Runs of one name.  0, or -ENOMEM. */
int estimate_make(const struct outcome_job *jobs, size_t count, struct estimate *ret);

/* Whether a figure has enough runs to say how much is usual. */
bool estimate_knows(const struct estimate *estimate, enum factor factor);

/* What a machine has left. */
struct estimate_room {
	double memory_bytes; /* available now, to the process that asks */
	bool is_limit;	     /* the limit of its cgroup leaves less than the host has */
	bool has_cpus;
	double idle_cpus, cpus; /* as information: too little CPU makes a job slow, not fail */
};

/* Whether the p90 of its peak memory is available. */
bool estimate_fits(const struct estimate *estimate, const struct estimate_room *room);

#endif
