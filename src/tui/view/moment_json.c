/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/record/job_view.h"
#include "render/record/record_json.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_jobs.h"
#include "tui/view/moment_view.h"

/* What happened since the moment before; of the first one nothing is known. */
static void write_past(struct json *json, const struct moment *moment)
{
	json_member_array(json, "anomalies");
	for (size_t i = 0; i < moment->anomalies.count; i++)
		anomaly_json(json, &moment->anomalies.data[i]);
	json_end_array(json);
	json_member_array(json, "events");
	for (size_t i = moment->before_unix_ns ? moment->events.count : 0; i > 0; i--)
		if (moment->events.data[i - 1].unix_ns > moment->before_unix_ns)
			life_event_json(json, &moment->events.data[i - 1], true);
	json_end_array(json);
}

static void write_use(struct json *json, const struct moment *moment, const struct job_use *use)
{
	if (!use->processes)
		return;
	json_member_object(json, "now");
	json_member_u64(json, "processes", use->processes);
	if (use->has_rss)
		json_member_u64(json, "rss_bytes", use->rss_bytes);
	if (use->has_run_time && moment->tasks->interval_ns)
		json_member_double(json, "cpu_percent",
				   100 * (double)use->run_time_ns /
					   (double)moment->tasks->interval_ns);
	json_end_object(json);
}

static void write_job(struct json *json, const struct moment *moment, const struct moment_job *job,
		      const struct job_use *use)
{
	const struct job_row row = { .job = &job->job, .duration_ns = job->elapsed_ns };
	struct job_progress progress = moment_job_progress(moment, job);
	uint64_t left_ns;

	json_begin_object(json);
	json_key(json, "job");
	job_json(json, &row, true);
	json_member_array(json, "steps");
	for (size_t i = 0; i < job->step_count; i++)
		job_step_json(json, &moment->steps.data[job->first_step + i]);
	json_end_array(json);
	if (progress.is_known)
		json_member_double(json, "progress", progress.share);
	if (moment_job_time_left(moment, job, &left_ns))
		json_member_u64(json, "time_left_ns", left_ns);
	write_use(json, moment, use);
	json_end_object(json);
}

static void write_jobs(struct json *json, const struct moment *moment)
{
	CLEANUP(free_pointer) struct job_use *jobs = NULL;
	CLEANUP(free_pointer) struct job_use *steps = NULL;

	if (moment_job_uses(moment, &jobs, &steps) < 0)
		return;
	json_member_array(json, "jobs");
	for (size_t i = 0; i < moment->jobs.count; i++)
		write_job(json, moment, &moment->jobs.data[i], &jobs[i]);
	json_end_array(json);
}

void moment_json_print(const struct moment *moment, const struct moment_view *view, FILE *out)
{
	struct json json = json_line_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "kind", "moment");
	json_member_u64(&json, "ts_ns", moment->sample.unix_ns);
	json_member_nonzero(&json, "asked_ts_ns", moment->asked_unix_ns);
	json_member_bool(&json, "live", moment->is_live);
	json_member_nonzero(&json, "interval_ns", moment->tasks->interval_ns);
	json_key(&json, "host");
	host_sample_json(&json, &moment->sample);
	if (moment->has_recorder)
		write_past(&json, moment);
	if (!moment->no_jobs)
		write_jobs(&json, moment);
	else
		json_member_string(&json, "no_jobs", moment->no_jobs);
	snapshot_json_groups(&json, &view->view);
	json_end_object(&json);
}
