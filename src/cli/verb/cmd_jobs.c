/* SPDX-License-Identifier: MIT */
/*
 * jobs: the jobs of a recording.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/args/store_args.h"
#include "host/host.h"
#include "record/job/job_subject.h"
#include "render/record/job_view.h"
#include "render/table/table.h"
#include "store/history/job/history_jobs.h"

static struct {
	struct store_args store;
	struct view_args view;
	bool running;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	SINCE_OPTION(args.store, "those that ran in the last TIME of the recording (default: all)"),
	{ 0, "running", OPTION_FLAG, &args.running, NULL, "only those that run", NULL },
	LIMIT_OPTION(args.view, "show the last N, 0 for all (default: 50)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

struct listing {
	struct history *history;
	struct job_scene scene;
	struct row_output output;
	size_t left; /* to be shown; 0: all */
	size_t shown;
	char step[256];
	struct error *error;
};

static int note_running_step(void *context, const struct job_step *step)
{
	struct listing *listing = context;

	if (step->outcome == JOB_RUNNING)
		snprintf(listing->step, sizeof(listing->step), "%s", step->name);
	return 0;
}

static int show(void *context, const struct job *found)
{
	struct listing *listing = context;
	struct job job = *found;
	struct job_row row = { .job = &job };
	int status = 0;

	job_subject_judge(&listing->scene, &job);
	if ((args.running && job.outcome != JOB_RUNNING) ||
	    (listing->left && listing->shown == listing->left))
		return 0;
	listing->shown++;
	listing->step[0] = '\0';
	if (job.outcome == JOB_RUNNING)
		status = history_job_steps(listing->history, job.id, note_running_step, listing,
					   listing->error);
	row.duration_ns = job_duration_ns(&job, &listing->scene.now);
	row.step = listing->step[0] ? listing->step : NULL;
	if (listing->output.format == FORMAT_JSON)
		job_json(listing->output.json, &row, true);
	else
		put_job(listing->output.table, &row);
	return listing->output.table->failed ? -ENOMEM : status;
}

int verb_jobs(char **words, int count, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json;
	struct listing listing = {
		.output = { view_format(&args.view), &table, &json },
		.left = view_limit(&args.view, 50),
		.error = error,
	};
	struct job_query query = { .running_only = args.running, .limit = listing.left };
	int status = store_args_open(&args.store, &history, error);

	(void)words;
	(void)count;
	if (status == 0)
		status = host_open(&host, NULL, error);
	if (status < 0)
		return status;
	listing.history = history;
	job_scene_look(&listing.scene, host);
	query.span = store_args_span(&args.store, history, 0);
	if (args.running)
		query.limit = 0; /* those that are lost do not count */
	job_columns(&table);
	row_output_begin(&listing.output, "jobs");
	status = history_jobs(history, &query, show, &listing, error);
	return status < 0 ? status :
			    row_output_end(&listing.output,
					   args.running ? "no job runs" : "no jobs", error);
}

const struct command command_jobs = {
	.name = "jobs",
	.arguments = "",
	.summary = "the jobs of a recording, with their outcomes",
	.description =
		"Lists jobs, newest first: those that `taskscope run --job` ran, and those that\n"
		"`taskscope job start` marked. Each run of a name is a job of its own, with its\n"
		"own number. One whose end nobody saw has the outcome `unknown`.",
	.examples = "taskscope jobs\tthe last 50\n"
		    "taskscope jobs --running\twhat runs now, and in which step\n"
		    "taskscope jobs --since 7d --format json\tfor programs",
	.options = options,
	.words_max = 0,
};
