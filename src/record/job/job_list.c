/* SPDX-License-Identifier: MIT */
#include "record/job/job_list.h"

#include <stdio.h>

#include "record/job/job_subject.h"
#include "record/job/job_tracker.h"

struct listing {
	struct history *history;
	const struct job_scene *scene;
	const struct job_query *query;
	job_row_sink *sink;
	void *context;
	size_t given;
	char step[JOB_NAME_SIZE]; /* that runs */
	struct error *error;
};

static int note_running_step(void *context, const struct job_step *step)
{
	struct listing *listing = context;

	if (step->outcome == JOB_RUNNING)
		snprintf(listing->step, sizeof(listing->step), "%s", step->name);
	return 0;
}

static int give(void *context, const struct job *found)
{
	struct listing *listing = context;
	struct job job = *found;
	struct job_row row = { .job = &job };
	int status = 0;

	job_subject_judge(listing->scene, &job);
	if ((listing->query->running_only && job.outcome != JOB_RUNNING) ||
	    (listing->query->limit && listing->given == listing->query->limit))
		return 0;
	listing->given++;
	listing->step[0] = '\0';
	if (job.outcome == JOB_RUNNING)
		status = history_job_steps(listing->history, job.id, note_running_step, listing,
					   listing->error);
	row.duration_ns = job_duration_ns(&job, &listing->scene->now);
	row.step = listing->step[0] ? listing->step : NULL;
	return status < 0 ? status : listing->sink(listing->context, &row);
}

int job_list(struct history *history, const struct job_scene *scene, const struct job_query *query,
	     job_row_sink *sink, void *context, struct error *error)
{
	struct listing listing = { history, scene, query, sink, context, .error = error };
	struct job_query rows = *query;

	if (rows.running_only)
		rows.limit = 0; /* those that are lost do not count */
	return history_jobs(history, &rows, give, &listing, error);
}
