/* SPDX-License-Identifier: MIT */
/* Events of jobs, with what surrounded them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <xxhash.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/kernel_names.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "model/record/anomaly.h"
#include "model/record/life_event.h"
#include "model/snapshot/snapshot.h"
#include "record/job/book/job_book_parts.h"
#include "record/job/job_tracker_parts.h"
#include "record/recorder_state.h"
#include "store/history/job/history_jobs.h"

/* To look for one takes a query; events may come in thousands. */
#define HOTSPOT_PAUSE_NS (100 * NS_PER_MS)
#define PATTERNS_MOST 256 /* of a job */

/* How many of a job are kept; marks have limits of their own. */
static const uint32_t limits[JOB_EVENT_KIND_COUNT] = {
	[JOB_EVENT_START] = UINT32_MAX, [JOB_EVENT_STEP] = UINT32_MAX,
	[JOB_EVENT_END] = UINT32_MAX,	[JOB_EVENT_LOST] = UINT32_MAX,
	[JOB_EVENT_EXIT] = 200,		[JOB_EVENT_SIGNAL] = 200,
	[JOB_EVENT_KILL] = 200,		[JOB_EVENT_OOM] = 200,
	[JOB_EVENT_ANOMALY] = 200,	[JOB_EVENT_FILE_CREATED] = 500,
	[JOB_EVENT_FILE_CHANGED] = 500, [JOB_EVENT_FILE_DELETED] = 500,
};

static int64_t find_row(const struct recorder *recorder, const struct task_key *task)
{
	const struct snapshot *snapshot = recorder->last.snapshot;
	int64_t row = snapshot && task->pid ? snapshot_find_process(snapshot, task->pid) : -1;

	return row >= 0 && snapshot->processes[row].start_time_ns == task->start_ns ? row : -1;
}

static char *context_json(struct job_tracker *tracker, const struct task_key *task,
			  const struct life_event *life)
{
	uint64_t now_ns = monotonic_ns();
	struct recorder_context context = {
		.row = find_row(tracker->recorder, task),
		.event = life,
		.has_hotspot = now_ns >= tracker->hotspot_at_ns + HOTSPOT_PAUSE_NS,
	};
	char *text = NULL;
	size_t length = 0;
	FILE *out = memory_stream_open(&text, &length);
	struct json json = json_line_writer(out);

	if (!out)
		return NULL;
	if (context.row >= 0 && context.has_hotspot)
		tracker->hotspot_at_ns = now_ns;
	recorder_context_json(&json, tracker->recorder, &context);
	return memory_stream_line(out, &text);
}

static void add_event(struct job_tracker *tracker, struct book_job *job,
		      const struct job_event *event, const struct life_event *life)
{
	struct recorder *recorder = tracker->recorder;
	CLEANUP(free_pointer) char *context = NULL;
	struct job_event complete = *event;
	struct error error = { 0 };

	if (job->event_counts[event->kind] >= limits[event->kind]) {
		job->lost_job_events += event->count ? event->count : 1;
		return;
	}
	job->event_counts[event->kind]++;
	context = context_json(tracker, &event->task, life);
	complete.job = job->row.id;
	complete.context = context;
	if (!complete.count)
		complete.count = 1;
	recorder_judge(recorder, &recorder->store_fault,
		       history_add_job_event(recorder->history, &complete, &error), &error,
		       "the store can be written");
	recorder_note_pending(recorder);
}

void job_log(struct job_tracker *tracker, struct book_job *job, const struct job_event *event)
{
	add_event(tracker, job, event, NULL);
}

void job_log_lost(struct job_tracker *tracker, struct book_job *job)
{
	struct job_event event = {
		.kind = JOB_EVENT_LOST,
		.unix_ns = job->row.end_unix_ns,
		.details = "events beyond what is kept of a job",
		.count = job->lost_job_events,
	};

	if (job->lost_job_events)
		job_log(tracker, job, &event);
}

static const int kinds[LIFE_KIND_COUNT] = {
	[LIFE_SPAWN] = -1,
	[LIFE_EXEC] = -1,
	[LIFE_EXIT] = JOB_EVENT_EXIT,
	[LIFE_SIGNAL] = JOB_EVENT_SIGNAL,
	[LIFE_KILL] = JOB_EVENT_KILL,
	[LIFE_OOM] = JOB_EVENT_OOM,
	[LIFE_RENAME] = -1,
	[LIFE_LOST] = -1,
};

static void describe(const struct life_event *event, struct text *details)
{
	char name[KERNEL_NAME_SIZE];

	if (event->kind == LIFE_EXIT && WIFSIGNALED(event->status))
		text_format(details, "ended by %s", signal_name(WTERMSIG(event->status), name));
	else if (event->kind == LIFE_EXIT)
		text_format(details, "exit status %d", WEXITSTATUS(event->status));
	else
		text_append_string(details, signal_name(event->signal, name));
	if (event->details)
		text_format(details, ", %s", event->details);
}

void job_log_life(struct job_tracker *tracker, struct book_job *job, const struct book_step *step,
		  const struct life_event *event)
{
	CLEANUP(text_free) struct text details = { 0 };
	bool is_failure = event->present & LIFE_HAS_STATUS && event->status;
	struct job_event logged = {
		.step = step ? step->row.name : NULL,
		.unix_ns = event->unix_ns,
		.task = event->task,
		.comm = event->comm,
	};

	if (kinds[event->kind] < 0 || (event->kind == LIFE_EXIT && !is_failure))
		return;
	describe(event, &details);
	logged.kind = (enum job_event_kind)kinds[event->kind];
	logged.details = text_string(&details);
	add_event(tracker, job, &logged, event);
}

static struct named_anomaly *find_named(const struct job_tracker *tracker, uint64_t id)
{
	for (size_t i = 0; tracker && i < tracker->anomalies.count; i++)
		if (tracker->anomalies.data[i].id == id)
			return &tracker->anomalies.data[i];
	return NULL;
}

void job_tracker_name_anomaly(const struct job_tracker *tracker, struct anomaly *anomaly)
{
	const struct named_anomaly *named = find_named(tracker, anomaly->id);

	if (named)
		snprintf(anomaly->job, sizeof(anomaly->job), "%s", named->job);
}

/* A job is counted once in each of its patterns. */
static bool is_first(struct book_job *job, const char *pattern)
{
	uint64_t hash = XXH3_64bits(pattern, strlen(pattern));

	for (size_t i = 0; i < job->patterns.count; i++)
		if (job->patterns.data[i] == hash)
			return false;
	return job->patterns.count < PATTERNS_MOST && array_append(&job->patterns, hash) == 0;
}

/* The same rule in the same program of a job of that name is the same pattern. */
static void keep_pattern(struct job_tracker *tracker, struct book_job *job,
			 const struct anomaly *anomaly)
{
	CLEANUP(text_free) struct text name = { 0 }, details = { 0 };
	struct recorder *recorder = tracker->recorder;
	struct pattern pattern = {
		.unix_ns = anomaly->begin_unix_ns,
		.kind = PATTERN_ANOMALY,
		.adds = true,
	};
	struct error error = { 0 };

	text_format(&name, "%s of %s in job %s", anomaly_rules[anomaly->rule].name, anomaly->comm,
		    job->row.name);
	text_format(&details, "{\"job\":%" PRIu64 ",\"rule\":\"%s\",\"severity\":\"%s\"}",
		    job->row.id, anomaly_rules[anomaly->rule].name,
		    severity_names[anomaly->severity]);
	pattern.name = text_string(&name);
	pattern.jobs = is_first(job, pattern.name);
	pattern.details = text_string(&details);
	recorder_judge(recorder, &recorder->store_fault,
		       history_put_pattern(recorder->history, &pattern, &error), &error,
		       "the store can be written");
}

static void take_opened(struct job_tracker *tracker, struct book_job *job,
			const struct book_step *step, const struct anomaly *anomaly)
{
	struct named_anomaly named = { .id = anomaly->id };
	const struct job_event event = {
		.kind = JOB_EVENT_ANOMALY,
		.step = step ? step->row.name : NULL,
		.unix_ns = anomaly->begin_unix_ns,
		.task = anomaly->task,
		.comm = anomaly->comm,
		.details = anomaly->details,
	};

	snprintf(named.job, sizeof(named.job), "%s", job->row.name);
	(void)array_append(&tracker->anomalies, named);
	job_book_count(&tracker->book, job, (struct book_step *)step, JOB_anomalies, 1);
	job_log(tracker, job, &event);
	keep_pattern(tracker, job, anomaly);
}

void job_tracker_take_anomaly(struct job_tracker *tracker, bool opens, struct anomaly *anomaly)
{
	struct named_anomaly *named = find_named(tracker, anomaly->id);
	struct book_member *member = tracker && anomaly->task.pid ?
					     job_book_member(&tracker->book, &anomaly->task) :
					     NULL;

	if (opens && !named && member)
		take_opened(tracker, member->job, job_book_step_of(member), anomaly);
	job_tracker_name_anomaly(tracker, anomaly);
	named = find_named(tracker, anomaly->id);
	if (named && anomaly->end_unix_ns)
		*named = tracker->anomalies.data[--tracker->anomalies.count];
}
