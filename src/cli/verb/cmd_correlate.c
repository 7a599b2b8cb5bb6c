/* SPDX-License-Identifier: MIT */
/*
 * correlate: what goes with the failure of jobs.
 */
#include <errno.h>
#include <stdio.h>

#include "analyze/outcome/correlation.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/args/store_args.h"
#include "cli/command.h"
#include "cli/parts/job/outcome_jobs.h"
#include "record/job/past_jobs.h"
#include "record/job/pattern_search.h"
#include "render/outcome/outcome_view.h"
#include "render/page.h"
#include "render/table/table.h"
#include "store/history/job/history_jobs.h"

#define REFUSED_ROWS 10

static struct {
	struct store_args store;
	struct view_args view;
	const char *socket;
} args;

static const struct option options[] = {
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	SINCE_OPTION(args.store, "jobs of the last TIME of the recording (default: 7d)"),
	LIMIT_OPTION(args.view, "show N groups that are no finding, 0 for all (default: 10)"),
	FORMAT_OPTION(args.view, "text|json|csv"),
	{ 0 },
};

static int print_text(const struct correlation *correlation, const char *name)
{
	struct page page;
	int status;

	page_open(&page, stdout);
	status = correlation_text(page.out, &page.terminal, correlation, name,
				  view_limit(&args.view, REFUSED_ROWS));
	return page_close(&page) < 0 ? -ENOMEM : status;
}

static int print(const struct correlation *correlation, const char *name)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json = json_writer(stdout);

	switch (view_format(&args.view)) {
	case FORMAT_JSON:
		correlation_json(&json, correlation, name);
		return 0;
	case FORMAT_CSV:
		outcome_group_columns(&table);
		table_stream_csv(&table, stdout);
		for (size_t i = 0; i < correlation->groups.count; i++)
			put_outcome_group(&table, &correlation->groups.data[i]);
		return table.failed ? -ENOMEM : 0;
	case FORMAT_TEXT:
		break;
	}
	return print_text(correlation, name);
}

int verb_correlate(char **words, int count, struct error *error)
{
	CLEANUP(past_jobs_clear) struct past_jobs past = { 0 };
	CLEANUP(correlation_clear) struct correlation correlation = { 0 };
	const char *name = count ? words[0] : NULL;
	struct job_query query = { .name = name };
	int status = outcome_jobs_read(&args.store, args.socket, CORRELATE_SPAN_NS, &query, &past,
				       error);

	if (status < 0)
		return status;
	if (name && past.jobs.count == 0)
		return error_set(error, -ENOENT,
				 "no job called '%s' in that time: `taskscope jobs` lists them",
				 name);
	status = correlate(past.jobs.data, past.jobs.count, &correlation);
	if (status == 0)
		status = print(&correlation, name);
	return status < 0 ? error_set(error, status, "out of memory") : EXIT_DONE;
}

const struct command command_correlate = {
	.name = "correlate",
	.arguments = "[JOB]",
	.summary = "what goes with the failure of jobs",
	.description =
		"Puts the jobs of a recording into groups by peak memory, CPU time, duration, the\n"
		"system call that dominates and whether there was an anomaly, and compares how\n"
		"often each group fails with how often the other jobs do. A finding has a p below\n"
		"0.05 in Fisher's exact test after Holm's correction for all groups tested: where\n"
		"nothing goes with failure, at most one of 20 recordings has any finding. Its\n"
		"confidence is 1 less that p.\n"
		"\n"
		"All jobs are compared with each other, or with JOB those of one name. A group may\n"
		"stand out among jobs of several names because of a name that often fails: a\n"
		"finding then also has the p of comparing jobs of the same name alone.\n"
		"\n"
		"Going with failure is not its cause: a job that waits for a lock until it is\n"
		"killed takes long because it fails. A recorder does this every 30 minutes, and\n"
		"keeps findings in the table patterns.",
	.examples = "taskscope correlate\tof the last week\n"
		    "taskscope correlate nightly --since 30d\tof one job",
	.options = options,
	.words_max = 1,
};
