/* SPDX-License-Identifier: MIT */
#include "record/job/past_jobs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "render/outcome/outcome_view.h"
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

int past_jobs_read(struct history *history, const struct job_query *query, struct past_jobs *ret,
		   struct error *error)
{
	struct hotspot_walk walk = { ret, 0 };
	int status;

	*ret = (struct past_jobs){ .texts = dictionary_new() };
	status = ret->texts ? history_jobs(history, query, take_job, ret, error) : -ENOMEM;
	if (status == 0 && ret->ids.count)
		status = history_job_hotspots(history, ret->ids.data[ret->ids.count - 1],
					      take_hotspot, &walk, error);
	return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
}

static int keep_pattern(struct history *history, const struct outcome_group *group,
			uint64_t now_unix_ns, struct error *error)
{
	CLEANUP(text_free) struct text name = { 0 };
	CLEANUP(free_pointer) char *details = NULL;
	size_t length;
	FILE *out = open_memstream(&details, &length);
	struct json json = json_line_writer(out);
	struct pattern pattern = {
		.unix_ns = now_unix_ns,
		.kind = PATTERN_CORRELATION,
		.jobs = group->table.jobs,
		.failures = group->table.failures,
		.rate = group->rate,
		.p_value = group->corrected_p,
	};

	if (!out)
		return error_set(error, -ENOMEM, "out of memory");
	outcome_group_json(&json, group);
	outcome_group_sentence(&name, group);
	if (fclose(out) != 0 || name.failed)
		return error_set(error, -ENOMEM, "out of memory");
	details[strcspn(details, "\n")] = 0;
	pattern.name = text_string(&name);
	pattern.details = details;
	return history_put_pattern(history, &pattern, error);
}

int past_jobs_keep_patterns(struct history *history, uint64_t now_unix_ns, struct error *error)
{
	CLEANUP(past_jobs_clear) struct past_jobs past = { 0 };
	CLEANUP(correlation_clear) struct correlation found = { 0 };
	struct job_query query = {
		.span = { now_unix_ns > CORRELATE_SPAN_NS ? now_unix_ns - CORRELATE_SPAN_NS : 0,
			  now_unix_ns },
		.ended_only = true,
	};
	int status = past_jobs_read(history, &query, &past, error);

	if (status == 0 && correlate(past.jobs.data, past.jobs.count, &found) < 0)
		status = error_set(error, -ENOMEM, "out of memory");
	for (size_t i = 0; i < correlation_found(&found) && status == 0; i++)
		status = keep_pattern(history, &found.groups.data[i], now_unix_ns, error);
	return status;
}
