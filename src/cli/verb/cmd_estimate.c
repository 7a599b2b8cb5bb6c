/* SPDX-License-Identifier: MIT */
/*
 * estimate: what a job will need, and whether there is room for it.
 */
#include <errno.h>
#include <stdio.h>

#include "analyze/outcome/estimate.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/args/store_args.h"
#include "cli/command.h"
#include "cli/parts/job/machine_room.h"
#include "cli/parts/job/outcome_jobs.h"
#include "record/job/past_jobs.h"
#include "render/outcome/outcome_view.h"
#include "render/page.h"
#include "store/history/job/history_jobs.h"

#define EXIT_DOES_NOT_FIT 1

static struct {
	struct store_args store;
	struct view_args view;
	const char *socket;
	bool fits;
} args;

static const struct option options[] = {
	{ 0, "fits", OPTION_FLAG, &args.fits, NULL,
	  "say whether it fits on this machine now; exit 1 when it does not", NULL },
	STORE_OPTION(args.store),
	{ 0, "socket", OPTION_TEXT, &args.socket, "FILE", "the recorder's socket", NULL },
	SINCE_OPTION(args.store, "from runs of the last TIME of the recording (default: all)"),
	FORMAT_OPTION(args.view, "text|json"),
	{ 0 },
};

static int read_estimate(const char *name, struct estimate *ret, struct error *error)
{
	CLEANUP(past_jobs_clear) struct past_jobs past = { 0 };
	struct job_query query = { .name = name };
	int status = outcome_jobs_read(&args.store, args.socket, 0, &query, &past, error);

	if (status < 0)
		return status;
	if (past.jobs.count == 0)
		return error_set(error, -ENOENT,
				 "no job called '%s' in the recording: `taskscope jobs` lists them",
				 name);
	return estimate_make(past.jobs.data, past.jobs.count, ret) < 0 ?
		       error_set(error, -ENOMEM, "out of memory") :
		       0;
}

static int print(const struct estimate *estimate, const char *name,
		 const struct estimate_room *room, struct error *error)
{
	struct json json = json_writer(stdout);
	struct page page;
	int status;

	if (view_format(&args.view) == FORMAT_JSON) {
		estimate_json(&json, estimate, name, room);
		return 0;
	}
	page_open(&page, stdout);
	status = estimate_text(page.out, &page.terminal, estimate, name, room);
	if (page_close(&page) < 0 || status < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int verb_estimate(char **words, int count, struct error *error)
{
	struct estimate estimate;
	struct estimate_room room;
	int status;

	if (count == 0)
		return error_set(error, -EINVAL, "estimate takes the name of a job");
	status = read_estimate(words[0], &estimate, error);
	if (status == 0 && args.fits && estimate_knows(&estimate, FACTOR_MEMORY))
		status = machine_room_read(&room, error);
	if (status < 0)
		return status;
	if (!args.fits || !estimate_knows(&estimate, FACTOR_MEMORY)) {
		status = print(&estimate, words[0], NULL, error);
		if (status == 0 && args.fits)
			status = error_set(error, -ENODATA,
					   "cannot say whether '%s' fits: its peak memory is not "
					   "known of enough runs",
					   words[0]);
		return status;
	}
	status = print(&estimate, words[0], &room, error);
	return status < 0		       ? status :
	       estimate_fits(&estimate, &room) ? EXIT_DONE :
						 EXIT_DOES_NOT_FIT;
}

const struct command command_estimate = {
	.name = "estimate",
	.arguments = "JOB",
	.summary = "what a job will need, from its earlier runs",
	.description =
		"Says how much memory, CPU time and time a job of that name will need: the median\n"
		"and the p90, which nine of ten runs do not exceed, of its runs that succeeded.\n"
		"A run that failed may have ended early and is left out.\n"
		"\n"
		"Each has an interval between two of the values seen, in which the real median or\n"
		"p90 lies with that confidence, however values are spread, as long as the next\n"
		"runs are like the earlier ones. 95 % takes 6 runs for a median and 29 for a p90.\n"
		"With fewer than 6 runs nothing is estimated.\n"
		"\n"
		"--fits compares the p90 of peak memory with the memory that is available now on\n"
		"this machine and within the limits of the caller's cgroup and those above it.",
	.examples =
		"taskscope estimate nightly\twhat it will need\n"
		"taskscope estimate nightly --fits && ./nightly.sh\tstart it if there is memory for it",
	.exits = "1\twith --fits: the job would not fit",
	.options = options,
	.words_max = 1,
};
