/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/proc/proc_task.h"

#define WORKERS_MAX 8
#define TASKS_PER_WORKER 100 /* fewer are not worth starting a thread for */

/* The reason of the closed gate when all metrics of a file are behind it. */
static const char *gate_reason(const struct capture *capture, const struct proc_file_info *info)
{
	for (int id = 0; id < METRIC_STORED; id++)
		if (metric_source(&metrics[id], info->place))
			return capture->gates[metrics[id].gate].reason;
	return NULL;
}

/* Reduces a plan to metrics that the iterator does not have; without any, the plan has no items. */
static void narrow_plan(struct proc_plan *plan)
{
	uint64_t lacking = 0;

	for (unsigned i = 0; i < plan->count; i++)
		lacking |= (uint64_t)!source_is_iterated(&metrics[plan->items[i].id]) << i;
	plan->own &= lacking;
	plan->group &= lacking;
	if (!lacking)
		plan->count = 0;
}

/* Leaves out metrics that nobody wants, and a file that has no others. */
static void leave_out_unwanted(const struct capture *capture, struct proc_plan *plan)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (!metric_wanted(capture, plan->items[i].id))
			plan->own &= ~(UINT64_C(1) << i);
	if (!(plan->own | plan->group))
		plan->count = 0;
}

static void plan_file(struct proc_context *context, enum proc_file file)
{
	const struct proc_file_info *info = &proc_files[file];
	struct capture *capture = context->capture;
	struct proc_plan *plan = &context->plans[file];

	if (!source_wanted(capture, info->source))
		return;
	proc_plan_init(plan, info->place, info->group_place, capture->gates);
	if (context->is_listed)
		narrow_plan(plan);
	else if (!plan->count)
		source_set_missing(&capture->tallies[info->source], gate_reason(capture, info));
	leave_out_unwanted(capture, plan);
	context->wants_group |= plan->group != 0;
}

static int need_columns(struct proc_context *context)
{
	struct snapshot *snapshot = context->capture->snapshot;

	for (int file = 0; file < PROC_FILES; file++) {
		const struct proc_plan *plan = &context->plans[file];

		for (uint64_t bits = plan->own | plan->group; bits; bits &= bits - 1)
			if (snapshot_need_column(snapshot, plan->items[__builtin_ctzll(bits)].id) <
			    0)
				return -ENOMEM;
	}
	return context->cpus == METRIC_STORED ? 0 : snapshot_need_column(snapshot, context->cpus);
}

static void *work(void *argument)
{
	struct proc_reader *reader = argument;
	struct proc_context *context = reader->context;

	for (;;) {
		size_t next = atomic_fetch_add(&context->next_job, 1);

		if (next >= context->job_count || !proc_read_job(reader, &context->jobs[next]))
			return NULL;
	}
}

/* A recorded tree is read by one thread, so that the same tree gives the same bytes. */
static size_t worker_count(const struct proc_context *context)
{
	const struct host *host = context->capture->host;
	size_t limits[] = { WORKERS_MAX, cpuset_count(&host->online), context->job_count, 0 };
	size_t count = host->live ? WORKERS_MAX : 1;

	for (size_t i = 0; i < context->job_count; i++)
		limits[3] += context->jobs[i].task_count;
	limits[3] /= TASKS_PER_WORKER;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i] < count)
			count = limits[i];
	return count ? count : 1;
}

/*
 * Runs one reader here and the others on threads.  If a thread cannot be started, the others do
 * its work.
 */
static void run_readers(struct proc_reader *readers, size_t count)
{
	pthread_t threads[WORKERS_MAX];
	size_t started = 0;

	while (started + 1 < count &&
	       pthread_create(&threads[started], NULL, work, &readers[started + 1]) == 0)
		started++;
	work(&readers[0]);
	while (started)
		pthread_join(threads[--started], NULL);
}

static void add_losses(struct capture_tally *into, const struct capture_tally *from)
{
	into->tids_walked += from->tids_walked;
	into->vanished += from->vanished;
	into->negative_dotted_values += from->negative_dotted_values;
	into->discarded_values += from->discarded_values;
	into->processes_ended += from->processes_ended;
	into->gap_filled += from->gap_filled;
}

static int end_reader(struct proc_reader *reader)
{
	struct capture *capture = reader->context->capture;
	int status = reader->status;

	source_add_tallies(capture->tallies, reader->tallies);
	add_losses(&capture->snapshot->tally, &reader->tally);
	capture->tasks_ended += reader->tasks_ended;
	proc_reader_clear(reader);
	return status;
}

static int run_workers(struct proc_context *context)
{
	size_t count = worker_count(context);
	CLEANUP(free_pointer) struct proc_reader *readers = calloc(count, sizeof(*readers));
	int status = 0;

	if (!readers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		readers[i].context = context;
	run_readers(readers, count);
	for (size_t i = 0; i < count; i++)
		if (end_reader(&readers[i]) < 0)
			status = -ENOMEM;
	return status;
}

static void plan_files(struct proc_context *context)
{
	for (int file = 0; file < PROC_FILES; file++)
		plan_file(context, file);
}

static int run(struct proc_context *context)
{
	int status = need_columns(context);

	if (status < 0)
		return status;
	if (context->cpus != METRIC_STORED && proc_numbers_are_ours(context->capture->host)) {
		context->affinity = affinity_lists_new(context->capture->snapshot, NULL,
						       TASK_AFFINITY_WORDS_MAX);
		if (!context->affinity)
			return -ENOMEM;
	}
	pthread_mutex_init(&context->strings, NULL);
	status = run_workers(context);
	pthread_mutex_destroy(&context->strings);
	affinity_lists_free(context->affinity);
	return status;
}

int proc_reader_run(struct capture *capture, const struct proc_job *jobs, size_t job_count,
		    uint8_t *keep)
{
	CLEANUP(free_pointer) struct proc_context *context = calloc(1, sizeof(*context));

	if (!context)
		return -ENOMEM;
	context->capture = capture;
	context->jobs = jobs;
	context->job_count = job_count;
	context->keep = keep;
	context->cpus = source_metric(capture, SOURCE_AFFINITY, PLACE_AFFINITY);
	if (context->cpus != METRIC_STORED && !metric_wanted(capture, context->cpus))
		context->cpus = METRIC_STORED;
	plan_files(context);
	context->wants_cgroup = capture_reads_cgroups(capture);
	return run(context);
}

/*
 * Whether some file has metrics that the iterator lacks.  Notes the reason if that file cannot be
 * read.
 */
static bool has_plans(struct proc_context *context)
{
	struct capture *capture = context->capture;
	bool any = false;

	for (int file = 0; file < PROC_FILES; file++) {
		if (!context->plans[file].count)
			continue;
		any = true;
		if (capture->proc_is_foreign)
			capture->tallies[proc_files[file].source].reason = PROC_IS_FOREIGN;
	}
	return any && !capture->proc_is_foreign;
}

/* Makes one job for each process; the rows of its tasks are adjacent. */
static struct proc_job *make_jobs(const struct snapshot *snapshot)
{
	struct proc_job *jobs = calloc(snapshot->process_count + 1, sizeof(*jobs));

	for (uint32_t row = 0; jobs && row < snapshot->task_count; row++) {
		struct proc_job *job = &jobs[snapshot->tasks[row].process];

		if (!job->task_count++)
			*job = (struct proc_job){ snapshot->tasks[row].process, row, 1, true };
	}
	return jobs;
}

int proc_reader_add(struct capture *capture)
{
	CLEANUP(free_pointer) struct proc_context *context = calloc(1, sizeof(*context));
	CLEANUP(free_pointer) struct proc_job *jobs = NULL;

	if (!capture->tallies[SOURCE_TASK_ITERATOR].read)
		return 0;
	if (!context)
		return -ENOMEM;
	context->capture = capture;
	context->is_listed = true;
	context->cpus = METRIC_STORED;
	plan_files(context);
	if (!has_plans(context))
		return 0;
	jobs = make_jobs(capture->snapshot);
	if (!jobs)
		return -ENOMEM;
	context->jobs = jobs;
	context->job_count = capture->snapshot->process_count;
	return run(context);
}
