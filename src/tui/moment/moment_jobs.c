/* SPDX-License-Identifier: MIT */
#include "tui/moment/moment_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/order.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/history/job/history_jobs.h"
#include "tui/moment/moment.h"

#define RECENT_NS (3600 * NS_PER_SECOND)
/* All that run are shown, however many others came and went meanwhile: a recorder has at most 256. */
#define RUNNING_MOST 512
#define ENDED_MOST 40
#define STEPS_OF_JOB 500
/* So many runs say what is usual. */
#define EARLIER_MOST 20

struct reading {
	struct moment *moment;
	uint64_t at_unix_ns;
	size_t first_step; /* of the job whose steps are read */
	bool wants_running;
};

static const char *copy(struct moment *moment, const char *text)
{
	return text ? arena_copy(&moment->arena, text, strlen(text)) : NULL;
}

static uint64_t time_since(uint64_t unix_ns, uint64_t at_unix_ns)
{
	return at_unix_ns > unix_ns ? at_unix_ns - unix_ns : 0;
}

static int add_job(void *context, const struct job *job)
{
	struct reading *reading = context;
	struct moment *moment = reading->moment;
	struct moment_job kept = { .job = *job, .elapsed_ns = job->duration_ns };
	bool runs = job->outcome == JOB_RUNNING || job->end_unix_ns > reading->at_unix_ns;

	if (runs != reading->wants_running)
		return 0;
	kept.job.name = copy(moment, job->name);
	kept.job.boot_id = copy(moment, job->boot_id);
	kept.job.cgroup = copy(moment, job->cgroup);
	kept.job.cmd = copy(moment, job->cmd);
	kept.job.watched = copy(moment, job->watched);
	kept.job.absent = copy(moment, job->absent);
	kept.job.details = copy(moment, job->details);
	if (!kept.job.name)
		return -ENOMEM;
	/* What is known only since its end was not known then. */
	if (job->end_unix_ns > reading->at_unix_ns) {
		kept.job.end_unix_ns = kept.job.duration_ns = 0;
		kept.job.outcome = JOB_RUNNING;
		kept.job.has_status = false;
		kept.job.figures = (struct job_figures){ 0 };
		kept.job.memory = JOB_MEMORY_UNKNOWN;
		kept.job.details = NULL;
	}
	if (kept.job.outcome == JOB_RUNNING)
		kept.elapsed_ns = time_since(job->begin_unix_ns, reading->at_unix_ns);
	return array_append(&moment->jobs, kept);
}

static int add_step(void *context, const struct job_step *step)
{
	struct reading *reading = context;
	struct moment *moment = reading->moment;
	struct job_step kept = *step;

	if (step->begin_unix_ns > reading->at_unix_ns ||
	    moment->steps.count - reading->first_step >= STEPS_OF_JOB)
		return 0;
	kept.name = copy(moment, step->name);
	kept.details = copy(moment, step->details);
	if (!kept.name)
		return -ENOMEM;
	if (step->end_unix_ns > reading->at_unix_ns) {
		kept.end_unix_ns = kept.duration_ns = 0;
		kept.outcome = JOB_RUNNING;
		kept.figures = (struct job_figures){ 0 };
		kept.details = NULL;
	}
	if (kept.outcome == JOB_RUNNING)
		kept.duration_ns = time_since(step->begin_unix_ns, reading->at_unix_ns);
	return array_append(&moment->steps, kept);
}

static int add_member(void *context, const struct task_key *process, const char *step)
{
	struct reading *reading = context;
	struct moment *moment = reading->moment;
	const struct job_member member = { process->pid, process->start_ns,
					   (uint32_t)(moment->jobs.count), copy(moment, step) };

	return array_append(&moment->members, member);
}

struct durations {
	uint64_t list[EARLIER_MOST];
	size_t count;
	uint64_t before_unix_ns;
};

static int add_duration(void *context, const struct job *job)
{
	struct durations *durations = context;

	if (job->outcome == JOB_SUCCESS && job->duration_ns &&
	    job->end_unix_ns <= durations->before_unix_ns && durations->count < EARLIER_MOST)
		durations->list[durations->count++] = job->duration_ns;
	return 0;
}

/* The median of the runs before it that succeeded. */
static uint64_t usual_duration(struct history *history, const struct job *job, uint64_t at_unix_ns)
{
	const struct job_query earlier = {
		.span = { 0, at_unix_ns },
		.name = job->name,
		.has_uid = true, /* others may call theirs the same, and say what they like */
		.uid = job->uid,
		.ended_only = true,
		.limit = EARLIER_MOST,
	};
	struct durations durations = { .before_unix_ns = at_unix_ns };
	struct error ignored = { 0 };

	(void)history_jobs(history, &earlier, add_duration, &durations, &ignored);
	if (!durations.count)
		return 0;
	qsort(durations.list, durations.count, sizeof(uint64_t), compare_u64);
	return durations.list[durations.count / 2];
}

static int compare_jobs(const void *first, const void *second)
{
	const struct moment_job *a = first, *b = second;
	bool a_runs = a->job.outcome == JOB_RUNNING, b_runs = b->job.outcome == JOB_RUNNING;

	if (a_runs != b_runs)
		return a_runs ? -1 : 1;
	return a->job.id > b->job.id ? -1 : a->job.id < b->job.id;
}

static void add_members(struct reading *reading, struct history *history, uint32_t place)
{
	struct moment *moment = reading->moment;
	const struct moment_job *job = &moment->jobs.data[place];
	size_t first = moment->members.count;
	struct error ignored = { 0 };

	if (job->job.boot_id)
		(void)history_job_processes(history, job->job.id, job->job.boot_id, add_member,
					    reading, &ignored);
	if (job->job.root.pid)
		(void)add_member(reading, &job->job.root, NULL);
	for (size_t i = first; i < moment->members.count; i++)
		moment->members.data[i].job = place;
}

void moment_add_jobs(struct moment *moment, struct history *history, const char *name,
		     uint64_t at_unix_ns)
{
	struct job_query query = {
		.span = { at_unix_ns, at_unix_ns },
		.name = name,
		/* Those of now are found without a look at all others. */
		.running_only = moment->is_live,
		.limit = RUNNING_MOST,
	};
	struct reading reading = { moment, at_unix_ns, 0, true };
	struct error ignored = { 0 };

	(void)history_jobs(history, &query, add_job, &reading, &ignored);
	query.span.from_unix_ns = time_since(RECENT_NS, at_unix_ns);
	query.running_only = false;
	query.limit = ENDED_MOST + moment->jobs.count; /* those that run are among them again */
	reading.wants_running = false;
	(void)history_jobs(history, &query, add_job, &reading, &ignored);
	if (moment->jobs.count)
		qsort(moment->jobs.data, moment->jobs.count, sizeof(struct moment_job),
		      compare_jobs);
	for (size_t i = 0; i < moment->jobs.count; i++) {
		struct moment_job *job = &moment->jobs.data[i];

		job->first_step = reading.first_step = moment->steps.count;
		(void)history_job_steps(history, job->job.id, add_step, &reading, &ignored);
		job->step_count = moment->steps.count - job->first_step;
		if (job->job.outcome != JOB_RUNNING)
			continue;
		job->usual_ns = usual_duration(history, &job->job, at_unix_ns);
		add_members(&reading, history, (uint32_t)i);
	}
}

size_t moment_running_jobs(const struct moment *moment)
{
	size_t count = 0;

	while (count < moment->jobs.count && moment->jobs.data[count].job.outcome == JOB_RUNNING)
		count++;
	return count;
}

struct job_progress moment_job_progress(const struct moment *moment, const struct moment_job *job)
{
	struct job_progress progress = { .total = job->job.steps };

	for (size_t i = 0; i < job->step_count; i++)
		progress.done += moment->steps.data[job->first_step + i].outcome != JOB_RUNNING;
	if (progress.total) {
		progress.is_known = true;
		if (progress.done > progress.total)
			progress.total = progress.done;
		progress.share = (double)progress.done / (double)progress.total;
	} else if (job->usual_ns && job->job.outcome == JOB_RUNNING) {
		progress.is_known = progress.is_by_time = true;
		progress.share = (double)job->elapsed_ns / (double)job->usual_ns;
		/* It takes longer than it mostly does, and is not at its end. */
		if (progress.share > 0.99)
			progress.share = 0.99;
	}
	return progress;
}

bool moment_job_time_left(const struct moment *moment, const struct moment_job *job,
			  uint64_t *ret_ns)
{
	struct job_progress progress = moment_job_progress(moment, job);
	double left_ns;

	if (job->job.outcome != JOB_RUNNING)
		return false;
	if (job->usual_ns) {
		*ret_ns = time_since(job->elapsed_ns, job->usual_ns);
		return *ret_ns > 0;
	}
	if (!progress.total || !progress.done || progress.done == progress.total)
		return false;
	left_ns = (double)job->elapsed_ns * (1 - progress.share) / progress.share;
	/* Whoever marks a job may say any number of steps. */
	if (left_ns >= (double)UINT64_MAX)
		return false;
	*ret_ns = (uint64_t)left_ns;
	return true;
}

static uint32_t find_step(const struct moment *moment, const struct job_member *member)
{
	const struct moment_job *job = &moment->jobs.data[member->job];

	for (size_t i = 0; member->step && i < job->step_count; i++)
		if (strcmp(moment->steps.data[job->first_step + i].name, member->step) == 0)
			return (uint32_t)(job->first_step + i) + 1;
	return 0;
}

/* A cgroup's job has all that is in it and below. */
static bool is_below(const char *path, const char *above)
{
	size_t length = strlen(above);

	return strncmp(path, above, length) == 0 &&
	       (!path[length] || path[length] == '/' || (length && above[length - 1] == '/'));
}

static void mark_members(const struct moment *moment, uint32_t *jobs, uint32_t *steps)
{
	const struct snapshot *tasks = moment->tasks;

	for (size_t i = 0; i < moment->members.count; i++) {
		const struct job_member *member = &moment->members.data[i];
		int64_t row = snapshot_find_process(tasks, member->pid);

		if (row < 0 || tasks->processes[row].start_time_ns != member->start_ns || jobs[row])
			continue;
		jobs[row] = member->job + 1;
		steps[row] = find_step(moment, member);
	}
	for (uint32_t job = 0; job < moment_running_jobs(moment); job++)
		for (size_t i = 0; moment->jobs.data[job].job.cgroup && i < tasks->task_count; i++)
			if (!jobs[tasks->tasks[i].process] &&
			    is_below(snapshot_text(tasks, tasks->tasks[i].cgroup),
				     moment->jobs.data[job].job.cgroup))
				jobs[tasks->tasks[i].process] = job + 1;
}

/* Parents are followed up to a process of a job; a ring, which only a forged file has, ends. */
static void mark_children(const struct moment *moment, uint32_t *jobs, uint32_t *steps)
{
	const struct snapshot *tasks = moment->tasks;

	for (uint32_t row = 0; row < tasks->process_count; row++) {
		int64_t above = row;

		for (int i = 0; i < 64 && above >= 0 && !jobs[above]; i++)
			above = snapshot_find_process(tasks,
						      snapshot_parent(tasks, (uint32_t)above));
		if (above >= 0 && jobs[above] && above != row) {
			jobs[row] = jobs[above];
			steps[row] = steps[above];
		}
	}
}

int moment_job_processes(const struct moment *moment, uint32_t **ret_jobs, uint32_t **ret_steps)
{
	size_t count = moment->tasks->process_count + 1;
	uint32_t *jobs = calloc(count, sizeof(*jobs)), *steps = calloc(count, sizeof(*steps));

	if (!jobs || !steps) {
		free(jobs);
		free(steps);
		return -ENOMEM;
	}
	if (moment->members.count || moment_running_jobs(moment)) {
		mark_members(moment, jobs, steps);
		mark_children(moment, jobs, steps);
	}
	*ret_jobs = jobs;
	*ret_steps = steps;
	return 0;
}

static void add_use(const struct snapshot *tasks, uint32_t row, struct job_use *use)
{
	const struct process *process = &tasks->processes[row];
	uint64_t number;

	use->processes++;
	if (snapshot_get(tasks, METRIC_rss_bytes, row, &number)) {
		use->rss_bytes += number;
		use->has_rss = true;
	}
	for (uint32_t i = process->first_task;
	     i < tasks->task_count && tasks->tasks[i].process == row; i++)
		if (tasks->interval_ns && snapshot_get(tasks, METRIC_run_time_ns, i, &number)) {
			use->run_time_ns += number;
			use->has_run_time = true;
		}
}

int moment_job_uses(const struct moment *moment, struct job_use **ret_jobs,
		    struct job_use **ret_steps)
{
	CLEANUP(free_pointer) uint32_t *jobs = NULL, *steps = NULL;
	int status = moment_job_processes(moment, &jobs, &steps);

	if (status < 0)
		return status;
	*ret_jobs = calloc(moment->jobs.count + 1, sizeof(**ret_jobs));
	*ret_steps = calloc(moment->steps.count + 1, sizeof(**ret_steps));
	if (!*ret_jobs || !*ret_steps)
		return -ENOMEM;
	for (uint32_t row = 0; row < moment->tasks->process_count; row++) {
		if (jobs[row])
			add_use(moment->tasks, row, &(*ret_jobs)[jobs[row] - 1]);
		if (steps[row])
			add_use(moment->tasks, row, &(*ret_steps)[steps[row] - 1]);
	}
	return 0;
}
