/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/outcome/correlation_parts.h"
#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/real.h"

/* Whether a job that has the factor is in the group. */
static bool outcome_group_has(const struct outcome_group *group, const struct outcome_job *job)
{
	double value = job->values[group->factor];

	if (group->syscall)
		return job->syscall && strcmp(group->syscall, job->syscall) == 0;
	return value >= group->low && value < group->high;
}

void outcome_group_count(const struct compared_jobs *jobs, const struct outcome_group *group,
			 struct outcome_table *tables, bool by_name)
{
	for (size_t i = 0; i < jobs->count; i++) {
		const struct compared_job *job = &jobs->list[i];
		struct outcome_table *table = &tables[by_name ? job->name : 0];

		if (!outcome_job_has(job->job, group->factor))
			continue;
		if (outcome_group_has(group, job->job)) {
			table->jobs++;
			table->failures += job->failed;
		} else {
			table->others++;
			table->other_failures += job->failed;
		}
	}
}

static int add_group(const struct compared_jobs *jobs, struct correlation *correlation,
		     struct outcome_group group)
{
	outcome_group_count(jobs, &group, &group.table, false);
	return group.table.jobs ? array_append(&correlation->groups, group) : 0;
}

static int add_bins(const struct compared_jobs *jobs, struct correlation *correlation,
		    enum factor factor, const double *bounds)
{
	int status = 0;

	for (unsigned i = 0; i < factors[factor].count && status == 0; i++)
		status = add_group(jobs, correlation,
				   (struct outcome_group){ .factor = factor,
							   .index = i,
							   .low = bounds[i],
							   .high = bounds[i + 1] });
	return status;
}

/* The bounds are values of jobs, so that those with equal values are in one group. */
static int add_quarters(const struct compared_jobs *jobs, struct correlation *correlation,
			enum factor factor)
{
	CLEANUP(free_pointer) double *values = calloc(jobs->count + 1, sizeof(*values));
	double bounds[FACTOR_QUARTERS + 1] = { [FACTOR_QUARTERS] = INFINITY };
	size_t count = 0;

	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < jobs->count; i++)
		if (outcome_job_has(jobs->list[i].job, factor))
			values[count++] = jobs->list[i].job->values[factor];
	real_sort(values, count);
	for (size_t i = 1; i < FACTOR_QUARTERS; i++)
		bounds[i] = values[count * i / FACTOR_QUARTERS];
	return add_bins(jobs, correlation, factor, bounds);
}

static int add_names(const struct compared_jobs *jobs, struct correlation *correlation,
		     enum factor factor)
{
	struct dictionary *seen = dictionary_new();
	int status = seen ? 0 : -ENOMEM;

	for (size_t i = 0; i < jobs->count && status == 0; i++) {
		const struct outcome_job *job = jobs->list[i].job;
		uint32_t known = seen ? dictionary_count(seen) : 0, id;

		if (!outcome_job_has(job, factor) || !job->syscall)
			continue;
		status = dictionary_add(seen, job->syscall, strlen(job->syscall), &id);
		if (status == 0 && id >= known)
			status = add_group(jobs, correlation,
					   (struct outcome_group){ .factor = factor,
								   .syscall = job->syscall });
	}
	dictionary_free(seen);
	return status;
}

/* Two groups that have all jobs between them are one test: the one that fails less often goes. */
static void merge_twins(struct correlation *correlation, size_t first)
{
	struct outcome_group *groups = correlation->groups.data + first;
	size_t count = correlation->groups.count - first;

	if (count != 2 || groups[0].table.jobs != groups[1].table.others)
		return;
	if ((double)groups[0].table.failures * (double)groups[1].table.jobs <=
	    (double)groups[1].table.failures * (double)groups[0].table.jobs)
		groups[0] = groups[1];
	correlation->groups.count--;
}

static int add_groups(const struct compared_jobs *jobs, struct correlation *correlation,
		      enum factor factor)
{
	switch (factors[factor].split) {
	case SPLIT_BOUNDS:
		return add_bins(jobs, correlation, factor, factors[factor].bounds);
	case SPLIT_QUARTERS:
		return add_quarters(jobs, correlation, factor);
	case SPLIT_NAMES:
		return add_names(jobs, correlation, factor);
	}
	return 0;
}

int correlation_make_groups(const struct compared_jobs *jobs, struct correlation *correlation)
{
	int status = 0;

	for (unsigned factor = 0; factor < FACTOR_COUNT && status == 0; factor++) {
		size_t first = correlation->groups.count;

		status = add_groups(jobs, correlation, factor);
		merge_twins(correlation, first);
	}
	return status;
}
