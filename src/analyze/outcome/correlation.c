/* SPDX-License-Identifier: MIT */
#include "analyze/outcome/correlation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/outcome/correlation_parts.h"
#include "base/cleanup.h"
#include "base/collection/dictionary.h"

/* Nobody has so many jobs. */
#define NEEDED_MOST 1000000

void outcome_job_set(struct outcome_job *job, enum factor factor, double value)
{
	job->values[factor] = value;
	job->present |= 1u << factor;
}

struct outcome_job outcome_job_of(const struct job *job)
{
	static const struct {
		enum factor factor;
		enum job_value value;
	} taken[] = {
		{ FACTOR_MEMORY, JOB_peak_memory_bytes },
		{ FACTOR_CPU_TIME, JOB_run_time_ns },
		{ FACTOR_ANOMALY, JOB_anomalies },
	};
	struct outcome_job outcome = { .name = job->name,
				       .outcome = job->outcome,
				       .memory = job->memory };

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (job_has(&job->figures, taken[i].value))
			outcome_job_set(&outcome, taken[i].factor,
					job->figures.values[taken[i].value]);
	if (job->duration_ns)
		outcome_job_set(&outcome, FACTOR_DURATION, (double)job->duration_ns);
	return outcome;
}

void correlation_clear(struct correlation *correlation)
{
	array_free(&correlation->groups);
}

size_t correlation_found(const struct correlation *correlation)
{
	size_t found = 0;

	for (size_t i = 0; i < correlation->groups.count; i++)
		found += correlation->groups.data[i].judgement == GROUP_FOUND;
	return found;
}

static void jobs_clear(struct compared_jobs *jobs)
{
	free(jobs->list);
	dictionary_free(jobs->names);
}

static int choose_jobs(const struct outcome_job *jobs, size_t count, struct compared_jobs *ret,
		       struct correlation *correlation)
{
	int status = 0;

	ret->list = calloc(count + 1, sizeof(*ret->list));
	ret->names = dictionary_new();
	if (!ret->list || !ret->names)
		return -ENOMEM;
	for (size_t i = 0; i < count && status == 0; i++) {
		struct compared_job *job = &ret->list[ret->count];

		correlation->running += jobs[i].outcome == JOB_RUNNING;
		correlation->unknown += jobs[i].outcome == JOB_UNKNOWN;
		job->job = &jobs[i];
		job->failed = jobs[i].outcome == JOB_FAILURE;
		if (!job->failed && jobs[i].outcome != JOB_SUCCESS)
			continue;
		ret->count++;
		correlation->failures += job->failed;
		for (unsigned factor = 0; factor < FACTOR_COUNT; factor++)
			correlation->lacking[factor] += !outcome_job_has(&jobs[i], factor);
		status = dictionary_add(ret->names, jobs[i].name, strlen(jobs[i].name), &job->name);
	}
	correlation->jobs = ret->count;
	correlation->names = dictionary_count(ret->names) - 1;
	return status;
}

static void rate_group(struct outcome_group *group)
{
	const struct outcome_table *table = &group->table;

	group->rate = (double)table->failures / (double)table->jobs;
	group->other_rate =
		table->others ? (double)table->other_failures / (double)table->others : NAN;
	wilson_interval(table->failures, table->jobs, &group->rate_low, &group->rate_high);
}

static double least_p(const struct outcome_table *table)
{
	return fisher_least_p(table->jobs, table->jobs + table->others,
			      table->failures + table->other_failures);
}

/* Tests all groups that could pass, and corrects their p for each other. */
static int test_groups(struct correlation *correlation)
{
	size_t count = correlation->groups.count;
	CLEANUP(free_pointer) double *p_values = calloc(count + 1, sizeof(*p_values));
	double least = 1;
	int status = p_values ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && status == 0; i++) {
		struct outcome_group *group = &correlation->groups.data[i];
		double least_of_group = least_p(&group->table);

		group->p = group->corrected_p = 1;
		group->judgement = group->table.others == 0	      ? GROUP_ALONE :
				   least_of_group < CORRELATION_ALPHA ? GROUP_WEAK :
									GROUP_TOO_FEW;
		if (group->judgement != GROUP_WEAK)
			continue;
		status = fisher_p(&group->table, 1, &group->p);
		p_values[correlation->tests++] = group->p;
		least = fmin(least, least_of_group);
	}
	if (status == 0)
		status = holm_correct(p_values, correlation->tests);
	if (status < 0)
		return status;
	correlation->can_find =
		correlation->tests && least * (double)correlation->tests < CORRELATION_ALPHA;
	for (size_t i = 0, test = 0; i < count; i++) {
		struct outcome_group *group = &correlation->groups.data[i];

		if (group->judgement != GROUP_WEAK)
			continue;
		group->corrected_p = p_values[test++];
		if (group->corrected_p < CORRELATION_ALPHA)
			group->judgement = GROUP_FOUND;
	}
	return 0;
}

/*
 * Whether a group could pass if there were so many jobs and failures, in the same proportions; half of
 * all jobs where there is no group to go by.
 */
static bool could_find(const struct correlation *correlation, uint64_t jobs, uint64_t failures)
{
	double least = 1;
	size_t tests = 0;

	for (size_t i = 0; i < correlation->groups.count; i++) {
		const struct outcome_table *table = &correlation->groups.data[i].table;
		double share = (double)table->jobs / (double)correlation->jobs;
		uint64_t size = (uint64_t)llround(share * (double)jobs);

		if (table->others == 0)
			continue;
		tests++;
		least = fmin(least, fisher_least_p(size, jobs, failures));
	}
	if (tests == 0)
		least = fisher_least_p(jobs / 2, jobs, failures);
	return least * (double)(tests ? tests : FACTOR_COUNT) < CORRELATION_ALPHA;
}

/* Where no job failed, or each did, it is asked how many of another outcome it takes. */
static bool find_failures(const struct correlation *correlation, uint64_t jobs, uint64_t *ret)
{
	uint64_t seen = correlation->failures, of = correlation->jobs;

	*ret = of ? (uint64_t)llround((double)seen / (double)of * (double)jobs) : 0;
	if (seen && seen < of)
		return could_find(correlation, jobs, *ret);
	for (uint64_t failures = 1; failures <= jobs / 2; failures++) {
		*ret = seen ? jobs - failures : failures;
		if (could_find(correlation, jobs, *ret))
			return true;
	}
	return false;
}

static void find_needed(struct correlation *correlation)
{
	uint64_t jobs = correlation->jobs;

	while (jobs < NEEDED_MOST &&
	       !find_failures(correlation, jobs, &correlation->needed_failures))
		jobs += 1 + jobs / 64;
	correlation->needed_jobs = jobs;
}

static int name_group(const struct compared_jobs *jobs, struct outcome_group *group)
{
	uint32_t count = dictionary_count(jobs->names), most = 0;
	CLEANUP(free_pointer) struct outcome_table *tables = calloc(count, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	outcome_group_count(jobs, group, tables, true);
	for (uint32_t i = 0; i < count; i++) {
		group->names += tables[i].jobs > 0;
		if (tables[i].jobs > tables[most].jobs)
			most = i;
	}
	group->main_jobs = tables[most].jobs;
	for (size_t i = 0; i < jobs->count && !group->main_name; i++)
		if (jobs->list[i].name == most)
			group->main_name = jobs->list[i].job->name;
	/* Number 0 is that of no name. */
	group->has_within = count > 2;
	return group->has_within ? fisher_p(tables, count, &group->p_within) : 0;
}

static int by_strength(const void *first, const void *second)
{
	const struct outcome_group *a = first, *b = second;

	if (a->judgement != b->judgement)
		return (int)a->judgement - (int)b->judgement;
	if (a->p != b->p)
		return a->p < b->p ? -1 : 1;
	if (a->factor != b->factor)
		return (int)a->factor - (int)b->factor;
	return a->syscall ? strcmp(a->syscall, b->syscall) : (int)a->index - (int)b->index;
}

int correlate(const struct outcome_job *jobs, size_t count, struct correlation *ret)
{
	CLEANUP(jobs_clear) struct compared_jobs compared = { 0 };
	int status;

	*ret = (struct correlation){ 0 };
	status = choose_jobs(jobs, count, &compared, ret);
	if (status == 0)
		status = correlation_make_groups(&compared, ret);
	for (size_t i = 0; i < ret->groups.count; i++)
		rate_group(&ret->groups.data[i]);
	if (status == 0)
		status = test_groups(ret);
	if (status < 0)
		return status;
	if (!ret->can_find)
		find_needed(ret);
	array_sort(&ret->groups, by_strength);
	for (size_t i = 0; i < ret->groups.count && status == 0; i++)
		if (ret->groups.data[i].judgement == GROUP_FOUND)
			status = name_group(&compared, &ret->groups.data[i]);
	return status;
}
