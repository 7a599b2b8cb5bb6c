/* SPDX-License-Identifier: MIT */
#include "record/job/past_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "record/job/job_list.h"
#include "record/job/mark/job_place.h"
#include "store/history/job/history_jobs.h"

void past_jobs_clear(struct past_jobs *past)
{
	array_free(&past->jobs);
	array_free(&past->ids);
	dictionary_free(past->texts);
	past->texts = NULL;
}

/* A copy that lives as long as the jobs; NULL: no memory. */
static const char *keep_text(struct past_jobs *past, const char *text)
{
	uint32_t id;

	return dictionary_add(past->texts, text, strlen(text), &id) < 0 ?
		       NULL :
		       dictionary_text(past->texts, id);
}

static int take_job(void *context, const struct job *job)
{
	struct past_jobs *past = context;
	struct outcome_job outcome = outcome_job_of(job);

	outcome.name = keep_text(past, job->name);
	if (!outcome.name || array_append(&past->jobs, outcome) < 0 ||
	    array_append(&past->ids, job->id) < 0)
		return -ENOMEM;
	return 0;
}

/* Where hotspots are in the jobs, both of them the newest first. */
struct hotspot_walk {
	struct past_jobs *past;
	size_t next;
};

static int take_hotspot(void *context, const struct job_hotspot *hotspot)
{
	struct hotspot_walk *walk = context;
	struct past_jobs *past = walk->past;
	struct outcome_job *job;

	while (walk->next < past->ids.count && past->ids.data[walk->next] > hotspot->job)
		walk->next++;
	if (walk->next == past->ids.count || past->ids.data[walk->next] != hotspot->job ||
	    hotspot->all_ns <= 0)
		return 0;
	job = &past->jobs.data[walk->next];
	outcome_job_set(job, FACTOR_SYSCALL, (double)hotspot->time_ns / hotspot->all_ns);
	if (job->values[FACTOR_SYSCALL] <= SYSCALL_DOMINATES)
		return 0;
	job->syscall = keep_text(past, hotspot->name);
	return job->syscall ? 0 : -ENOMEM;
}

int past_jobs_read(struct history *history, const struct job_query *query, struct past_jobs *past,
		   struct error *error)
{
	struct hotspot_walk walk = { past, past->jobs.count };
	int status;

	if (!past->texts)
		past->texts = dictionary_new();
	status = past->texts ? history_jobs(history, query, take_job, past, error) : -ENOMEM;
	if (status == 0 && past->ids.count > walk.next)
		status =
			history_job_hotspots(history, past->ids.data[past->ids.count - 1],
					     past->ids.data[walk.next], take_hotspot, &walk, error);
	return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
}

static int take_row(void *context, const struct job_row *row)
{
	struct hotspot_walk *walk = context;

	return take_job(walk->past, row->job);
}

int past_jobs_ask(const char *socket, const struct job_query *query, struct past_jobs *past,
		  struct error *error)
{
	struct hotspot_walk walk = { past, past->jobs.count };
	const struct job_list_sinks sinks = { take_row, take_hotspot, &walk };
	struct job_query own = *query;
	int status;

	own.has_uid = geteuid() != 0;
	if (!past->texts)
		past->texts = dictionary_new();
	status = past->texts ? job_list_ask(job_place_ask_root, socket, &own, &sinks, error) :
			       -ENOMEM;
	return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
}
