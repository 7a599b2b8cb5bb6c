/* SPDX-License-Identifier: MIT */
/*
 * jobs: the jobs of a recording.
 */
#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/args/store_args.h"
#include "host/host.h"
#include "record/job/job_list.h"
#include "record/job/mark/job_place.h"
#include "record/job/job_subject.h"
#include "render/table/table.h"

static struct {
	struct store_args store;
	struct view_args view;
	const char *socket;
	bool running;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	SINCE_OPTION(args.store, "those that ran in the last TIME of the recording (default: all)"),
	{ 0, "running", OPTION_FLAG, &args.running, NULL, "only those that run", NULL },
	LIMIT_OPTION(args.view, "show the last N, 0 for all (default: 50)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

struct shown {
	struct row_output output;
	bool has_begun;
};

/*
 * There may be nobody to ask, and then another is asked: nothing is written before there is an
 * answer.
 */
static void begin(struct shown *shown)
{
	if (!shown->has_begun)
		row_output_begin(&shown->output, "jobs");
	shown->has_begun = true;
}

static int show(void *context, const struct job_row *row)
{
	struct shown *shown = context;
	struct row_output *output = &shown->output;

	begin(shown);
	if (output->format == FORMAT_JSON)
		job_json(output->json, row, true);
	else
		put_job(output->table, row);
	return output->table->failed ? -ENOMEM : 0;
}

/* Those of the recorder that takes the caller's marks; -ENOENT when there is none. */
static int ask_recorder(struct shown *shown, const struct job_query *query, struct error *error)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME), age_ns = args.store.since.value;
	const struct job_list_sinks sinks = { show, NULL, shown };
	struct job_query recent = *query;

	if (age_ns && age_ns < now_ns)
		recent.span.from_unix_ns = now_ns - age_ns;
	return job_list_ask(job_place_ask, args.socket, &recent, &sinks, error);
}

static int read_store(struct shown *shown, struct job_query *query, struct error *error)
{
	CLEANUP(history_close_pointer) struct history *history = NULL;
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct job_scene scene;
	int status = store_args_open(&args.store, &history, error);

	if (status == 0)
		status = host_open(&host, NULL, error);
	if (status < 0)
		return status;
	job_scene_look(&scene, host);
	query->span = store_args_span(&args.store, history, 0);
	return job_list(history, &scene, query, show, shown, error);
}

int verb_jobs(char **words, int count, struct error *error)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json;
	struct shown shown = { .output = { view_format(&args.view), &table, &json } };
	struct job_query query = { .running_only = args.running,
				   .limit = view_limit(&args.view, 50) };
	int status = -ENOENT;

	(void)words;
	(void)count;
	job_columns(&table);
	if (!args.store.store || args.socket)
		status = ask_recorder(&shown, &query, error);
	if (status == -ENOENT && !args.socket)
		status = read_store(&shown, &query, error);
	if (status < 0)
		return status;
	begin(&shown);
	return row_output_end(&shown.output, args.running ? "no job runs" : "no jobs", error);
}

const struct command command_jobs = {
	.name = "jobs",
	.arguments = "",
	.summary = "the jobs of a recording, with their outcomes",
	.description =
		"Lists jobs, newest first: those that `taskscope run --job` ran, and those that\n"
		"`taskscope job start` marked. Each run of a name is a job of its own, with its\n"
		"own number. One whose end nobody saw has the outcome `unknown`.\n"
		"\n"
		"The recorder that takes your marks answers: yours, or else root's, which shows\n"
		"command lines to their owners only. Where none runs, your own store is read.",
	.examples = "taskscope jobs\tthe last 50\n"
		    "taskscope jobs --running\twhat runs now, and in which step\n"
		    "taskscope jobs --since 7d --format json\tfor programs",
	.options = options,
	.words_max = 0,
};
