/* SPDX-License-Identifier: MIT */
/*
 * Which figures of jobs go with failure: groups of jobs, each compared with all other jobs.
 *
 * How jobs are put into groups never depends on how they ended, so a test of a group is valid:
 *
 *	memory     bins of peak memory with fixed bounds
 *	cpu_time   quarters: bounds are the quartiles of the CPU times of all jobs that are compared
 *	duration   quarters, in the same way
 *	syscall    jobs in which that system call has more than 35 % of all system call time
 *	anomaly    jobs in which an anomaly began
 *
 * A job without the value takes no part in the groups of that factor, and is counted.  So are jobs that
 * run, and those with an unknown outcome.
 *
 * A group is tested when its size and the number of all failures allow a p below 0.05 at all, whichever
 * jobs failed; else it has too few jobs.  Where a factor has two groups, they are one test, and
 * the group that fails more often is shown.  A finding is a group whose p is below 0.05 after Holm's
 * correction over all groups that were tested: so all findings together are false with a chance of
 * at most 5 %, where nothing goes with failure.
 *
 * Jobs of different names are compared with each other.  A group may then stand out because of the
 * names in it: a finding says how many names and which one is the commonest, and has the p of the
 * test within names (exact_test.h), for which jobs are compared with those of the same name alone.
 */
#ifndef ANALYZE_CORRELATION_H
#define ANALYZE_CORRELATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/outcome/exact_test.h"
#include "base/collection/array.h"
#include "metric/metric.h"
#include "model/record/job/job.h"

struct text;

/* A finding has a smaller p. */
#define CORRELATION_ALPHA 0.05
/* A system call with a larger share of the system call time dominates a job. */
#define SYSCALL_DOMINATES 0.35

enum factor {
	FACTOR_MEMORY,
	FACTOR_CPU_TIME,
	FACTOR_DURATION,
	FACTOR_SYSCALL,
	FACTOR_ANOMALY,
	FACTOR_COUNT,
};

/* How jobs are put into groups. */
enum factor_split {
	SPLIT_BOUNDS,	/* by fixed bounds */
	SPLIT_QUARTERS, /* by the quartiles of all values */
	SPLIT_NAMES,	/* by what dominates the job; jobs without such a thing are in no group */
};

extern const struct factor_info {
	const char *name;  /* for programs */
	const char *title; /* for people */
	enum metric_unit unit;
	enum factor_split split;
	unsigned count;		   /* of bounded groups and quarters */
	const double *bounds;	   /* of SPLIT_BOUNDS: one more than groups */
	const char *const *titles; /* of the groups, for a table */
	const char *const *whose;  /* "jobs with an anomaly" */
} factors[FACTOR_COUNT];

/* What a job had, for comparing. */
struct outcome_job {
	const char *name;
	enum job_outcome outcome;
	unsigned present; /* a bit for each factor */
	double values[FACTOR_COUNT];
	const char *syscall;	/* the one that dominates; NULL: none does */
	enum job_memory memory; /* how its memory was found */
};

/* Takes over what the job itself has: all but its system calls. */
struct outcome_job outcome_job_of(const struct job *job);
void outcome_job_set(struct outcome_job *job, enum factor factor, double value);

enum group_judgement {
	GROUP_FOUND,
	GROUP_WEAK,    /* it may well be chance */
	GROUP_TOO_FEW, /* no outcome of its jobs could be told from chance */
	GROUP_ALONE,   /* all jobs are in it: there are none to compare it with */
	GROUP_JUDGEMENT_COUNT,
};

extern const char *const group_judgement_names[GROUP_JUDGEMENT_COUNT];

struct outcome_group {
	enum factor factor;
	unsigned index;	     /* of the bin or quarter; of FACTOR_ANOMALY 0: without, 1: with */
	double low, high;    /* bounds of its values, high not included; may be INFINITY */
	const char *syscall; /* of FACTOR_SYSCALL; else NULL */
	struct outcome_table table;
	double rate, rate_low, rate_high, other_rate;
	double p, corrected_p; /* 1 when it was not tested */
	enum group_judgement judgement;
	uint64_t names;	       /* how many different names its jobs have */
	const char *main_name; /* the commonest of them */
	uint64_t main_jobs;
	bool has_within; /* jobs of several names were compared, and it is a finding */
	double p_within;
};

/* Texts in it belong to the jobs. */
struct correlation {
	ARRAY_OF(struct outcome_group) groups; /* findings first, then by p */
	uint64_t jobs, failures, names;	       /* that were compared */
	uint64_t running, unknown;	       /* left out */
	uint64_t lacking[FACTOR_COUNT];	       /* of `jobs`: without that value */
	uint64_t tests;
	/*
	 * False: with so many jobs and failures no group could have passed, and about so many are
	 * needed with the same shares of groups and failures.
	 */
	bool can_find;
	uint64_t needed_jobs, needed_failures;
};

/* 0, or -ENOMEM; *ret is to be cleared in both cases. */
int correlate(const struct outcome_job *jobs, size_t count, struct correlation *ret);
void correlation_clear(struct correlation *correlation);
size_t correlation_found(const struct correlation *correlation);

/* "CPU time, highest quarter" */
void outcome_group_title(struct text *out, const struct outcome_group *group);
/* Its bounds, "12.3 s or more"; nothing where the title has them. */
void outcome_group_bounds(struct text *out, const struct outcome_group *group);
/* "jobs in the highest quarter of CPU time fail more often": the same whenever it is found again. */
void outcome_group_sentence(struct text *out, const struct outcome_group *group);

#endif
