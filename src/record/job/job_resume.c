/* SPDX-License-Identifier: MIT */
/*
 * Jobs that an earlier recorder followed: those whose first process lives, or whose cgroup exists,
 * go on, and the others have ended unseen.
 */
#include <string.h>

#include "base/error.h"
#include "record/job/job_tracker_parts.h"
#include "record/recorder_state.h"
#include "store/history/job/history_jobs.h"

struct resumption {
	struct job_tracker *tracker;
	struct job_instant now;
	struct history_span extent; /* of the recording so far */
	struct book_job *job;	    /* whose parts are read */
};

static bool lives(void *context, const struct job *job)
{
	struct resumption *resumption = context;
	struct job_reader *reader = &resumption->tracker->reader;
	struct job_use use;

	if (!job->boot_id || strcmp(job->boot_id, reader->boot_id) != 0)
		return false;
	if (job->cgroup && job_read_cgroup(reader, job->cgroup).exists)
		return true;
	return job->root.pid && job_read_process(reader, &job->root, &use);
}

static int take_up(void *context, const struct job *row)
{
	struct resumption *resumption = context;
	struct book_job *job = job_book_begin(&resumption->tracker->book, row, &resumption->now);

	if (!job)
		return -ENOMEM;
	if (resumption->now.unix_ns > resumption->extent.to_unix_ns)
		job->gaps.away_ns = resumption->now.unix_ns - resumption->extent.to_unix_ns;
	return 0;
}

static int take_step(void *context, const struct job_step *row)
{
	struct resumption *resumption = context;
	struct book_job *job = resumption->job;
	struct book_step *step =
		job_book_open_step(job, row->name, &(struct task_key){ 0 }, &resumption->now);

	if (!step)
		return -ENOMEM;
	step->row = (struct job_step){
		.job = row->job,
		.name = step->row.name,
		.begin_unix_ns = row->begin_unix_ns,
		.end_unix_ns = row->end_unix_ns,
		.begin_boottime_ns = row->begin_boottime_ns,
		.duration_ns = row->duration_ns,
		.outcome = row->outcome,
		.figures = row->figures,
		.memory = row->memory,
	};
	step->root = row->root;
	step->window.run_time_ns = row->figures.values[JOB_run_time_ns];
	step->is_open = row->outcome == JOB_RUNNING;
	if (row->outcome == JOB_SUCCESS)
		job->last_completed = step->row.name;
	if (step->is_open && !step->root.pid)
		job->current = step;
	return 0;
}

/* What a process used while nobody looked is not known. */
static void join_again(struct resumption *resumption, const struct task_key *key,
		       struct book_step *step, bool was_known)
{
	struct job_tracker *tracker = resumption->tracker;
	uint64_t away_ns = resumption->job->gaps.away_ns;
	bool is_new = !was_known && key->start_ns > resumption->now.boottime_ns - away_ns;
	struct job_use use;

	if (!job_read_process(&tracker->reader, key, &use))
		return;
	job_book_join(&tracker->book, resumption->job, step, key, is_new ? &job_use_nothing : &use,
		      was_known ? JOIN_AGAIN : (is_new ? JOIN_NEW : JOIN_LIVING));
}

static int take_process(void *context, const struct task_key *key, const char *step)
{
	struct resumption *resumption = context;

	join_again(resumption, key, step ? job_book_find_step(resumption->job, step) : NULL, true);
	return 0;
}

static bool began_inside(const struct book_job *job, const struct task_key *key)
{
	return key->start_ns >= job->row.begin_boottime_ns;
}

/* Those that the store knows, and what these have forked since. */
static int take_members(struct resumption *resumption, struct error *error)
{
	struct job_tracker *tracker = resumption->tracker;
	struct book_job *job = resumption->job;
	struct job_family family = { 0 };
	int status =
		history_job_processes(tracker->recorder->history, job->row.id,
				      tracker->reader.boot_id, take_process, resumption, error);

	if (status < 0 || !job->row.root.pid)
		return status;
	if (!job_book_member(&tracker->book, &job->row.root))
		join_again(resumption, &job->row.root, NULL, true);
	if (job_list_family(&tracker->reader, &job->row.root, &family) < 0)
		job->gaps.unread++;
	for (size_t i = 0; i < family.list.count; i++)
		if (began_inside(job, &family.list.data[i]) &&
		    !job_book_member(&tracker->book, &family.list.data[i]))
			join_again(resumption, &family.list.data[i], job->current, false);
	array_free(&family.list);
	return 0;
}

static int take_parts(struct resumption *resumption, struct error *error)
{
	struct job_tracker *tracker = resumption->tracker;
	struct book_job *job = resumption->job;
	struct error unwatched = { 0 };
	struct job_cgroup cgroup;
	int status = history_job_steps(tracker->recorder->history, job->row.id, take_step,
				       resumption, error);

	if (status == 0)
		status = take_members(resumption, error);
	if (status < 0)
		return status;
	if (job->row.cgroup) {
		cgroup = job_read_cgroup(&tracker->reader, job->row.cgroup);
		job->has_cgroup_use = cgroup.has_run_time;
		job->cgroup_before.run_time_ns =
			cgroup.run_time_ns - (uint64_t)job->row.figures.values[JOB_run_time_ns];
		job->has_cgroup_peak = cgroup.has_peak;
		job->cgroup_peak_before = cgroup.peak_bytes;
	}
	if (job->row.watched && job_watches_add(&tracker->watches, job, &unwatched) < 0) {
		job->unwatched = strdup(unwatched.message);
		job->has_changed = true;
	}
	return 0;
}

int job_resume(struct job_tracker *tracker, struct error *error)
{
	struct resumption resumption = {
		.tracker = tracker,
		.now = job_reader_now(&tracker->reader),
	};
	const struct job_query query = {
		.span = { 0, UINT64_MAX },
		.running_only = true,
		.limit = JOBS_MOST,
	};
	struct history *history = tracker->recorder->history;
	int status = history_close_lost_jobs(history, lives, &resumption, error);

	(void)history_extent(history, &resumption.extent);
	if (status == 0)
		status = history_jobs(history, &query, take_up, &resumption, error);
	job_book_reverse(&tracker->book);
	for (size_t i = 0; i < tracker->book.jobs.count && status == 0; i++) {
		resumption.job = tracker->book.jobs.data[i];
		status = take_parts(&resumption, error);
	}
	return status;
}
