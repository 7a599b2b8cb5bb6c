/* SPDX-License-Identifier: MIT */
/* What the figures of a job lack, in words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "record/job/job_tracker_parts.h"
#include "record/recorder_state.h"
#include "trace/life/lifecycle.h"

#define BIT(value) (UINT32_C(1) << JOB_##value)

/* What each source of events can count. */
static const struct {
	const char *source;
	uint32_t counted;
} counters[] = {
	{ "bpf",
	  BIT(spawns) | BIT(exits) | BIT(failed_exits) | BIT(signals) | BIT(kills) | BIT(ooms) },
	{ "connector", BIT(spawns) | BIT(exits) | BIT(failed_exits) },
	{ "polling", BIT(spawns) | BIT(exits) },
};

uint32_t job_counted(const struct recorder *recorder)
{
	const char *source = recorder->life ? lifecycle_source(recorder->life) : "";
	uint32_t counted = BIT(processes) | BIT(anomalies);

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (strcmp(counters[i].source, source) == 0)
			counted |= counters[i].counted;
	return counted;
}

static void add(struct text *text, const char *sentence)
{
	text_format(text, "%s%s", text->length ? "; " : "", sentence);
}

static void add_source(struct text *text, const struct recorder *recorder)
{
	const struct recorder_options *options = recorder->options;
	const char *misses = recorder->life ? lifecycle_misses(recorder->life) : NULL;

	if (!recorder->life)
		add(text,
		    "the recorder followed no events: processes that lived between two ticks are "
		    "missing, and spawns, exits and signals are not known");
	if (misses)
		text_format(text, "%sevents came by %s, which misses %s", text->length ? "; " : "",
			    lifecycle_source(recorder->life), misses);
	if (options->tree_pid || options->cgroup)
		add(text,
		    "the recorder records a part of the host only: what is not in it is missing");
}

static void add_count(struct text *text, uint64_t count, const char *words)
{
	if (count)
		text_format(text, "%s%" PRIu64 " %s", text->length ? "; " : "", count, words);
}

char *job_gaps_words(const struct job_tracker *tracker, const struct book_job *job)
{
	CLEANUP(text_free) struct text text = { 0 };
	const struct job_gaps *gaps = &job->gaps;

	add_source(&text, tracker->recorder);
	add_count(&text, gaps->lost_events, "of the host's events were lost while it ran");
	add_count(&text, gaps->lost_members, "of its processes found no room in the recorder");
	if (tracker->recorder->life)
		add_count(&text, gaps->unseen_ends,
			  "of its processes ended unseen: what was used last is missing");
	add_count(&text, gaps->unread, "of its processes could not be read when it began or ended");
	add_count(&text, gaps->late,
		  "of its readings at marks came from the last tick: there were too many processes "
		  "to read them at once");
	if (gaps->away_ns)
		text_format(
			&text,
			"%sno recorder ran for %.1f s of it: what living processes used then, and "
			"processes that ended then, are missing",
			text.length ? "; " : "", (double)gaps->away_ns / 1e9);
	if (job->unwatched)
		text_format(&text, "%sevents of files end where a recorder began again, which %s",
			    text.length ? "; " : "", job->unwatched);
	add_count(&text, gaps->lent,
		  "of its processes belonged to another job for a while: that time counts there");
	return text.length && !text.failed ? strdup(text_string(&text)) : NULL;
}
