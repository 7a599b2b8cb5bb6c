/* SPDX-License-Identifier: MIT */
/*
 * What happens between ticks: events of processes, and anomalies that open and close.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/anomaly/detector.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "record/recorder_state.h"
#include "record/server.h"
#include "render/record/record_json.h"
#include "trace/life/lifecycle.h"

/* Events are kept at most this long before they are durable and others can read them. */
#define COMMIT_WAIT_NS NS_PER_SECOND

static void note_pending(struct recorder *recorder)
{
	recorder->pending++;
	if (recorder->commit_due.deadline_ns == LOOP_NEVER)
		recorder->commit_due.deadline_ns = monotonic_ns() + COMMIT_WAIT_NS;
}

void recorder_commit(void *context)
{
	struct recorder *recorder = context;
	struct error error = { 0 };
	int status = recorder->pending ? history_commit(recorder->history, &error) : 0;

	recorder->commit_due.deadline_ns = LOOP_NEVER;
	recorder->pending = 0;
	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
}

static void write_event_line(struct recorder *recorder, const struct life_event *event)
{
	FILE *out = rotated_lines_begin(&recorder->lines);
	struct json json;

	if (!out)
		return;
	json = json_line_writer(out);
	life_event_json(&json, event, true);
	rotated_lines_end(&recorder->lines);
}

int recorder_take_event(void *context, const struct life_event *event)
{
	struct recorder *recorder = context;
	struct error error = { 0 };
	int status = history_add_event(recorder->history, event, &error);

	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
	note_pending(recorder);
	write_event_line(recorder, event);
	server_publish_event(recorder->server, event);
	return detector_take_event(recorder->detector, event, recorder_take_anomaly, recorder);
}

static void judge_events(struct recorder *recorder, int status)
{
	struct error error = { 0 };

	recorder_judge(recorder, &recorder->events_fault, status, &error, "events can be read");
}

void recorder_drain(void *context)
{
	struct recorder *recorder = context;

	judge_events(recorder, lifecycle_drain(recorder->life, recorder_take_event, recorder));
}

void recorder_poll(struct recorder *recorder, const struct snapshot *snapshot)
{
	if (recorder->life)
		judge_events(recorder, lifecycle_poll(recorder->life, snapshot, recorder_take_event,
						      recorder));
}

static void write_anomaly_line(struct recorder *recorder, const char *line, size_t length)
{
	FILE *out = rotated_lines_begin(&recorder->lines);

	if (!out)
		return;
	fwrite(line, 1, length, out);
	rotated_lines_end(&recorder->lines);
}

/* Processes that an anomaly concerns are sampled each second until it is over. */
static void plan_burst(struct recorder *recorder)
{
	bool is_wanted = detector_open_count(recorder->detector) > 0 &&
			 recorder->options->interval_ns > NS_PER_SECOND;

	if (!is_wanted)
		recorder->burst_due.deadline_ns = LOOP_NEVER;
	else if (recorder->burst_due.deadline_ns == LOOP_NEVER)
		recorder->burst_due.deadline_ns = monotonic_ns() + NS_PER_SECOND;
}

int recorder_take_anomaly(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	struct recorder *recorder = context;
	CLEANUP(free_pointer) char *line = NULL;
	struct error error = { 0 };
	size_t length = 0;
	struct json json;
	FILE *out;
	int status = history_put_anomaly(recorder->history, change, anomaly, &error);

	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
	note_pending(recorder);
	plan_burst(recorder);
	out = open_memstream(&line, &length);
	if (!out)
		return -ENOMEM;
	json = json_line_writer(out);
	anomaly_json(&json, anomaly);
	if (fclose(out) != 0)
		return -ENOMEM;
	write_anomaly_line(recorder, line, length);
	server_publish_anomaly(recorder->server, anomaly);
	if (change != ANOMALY_GREW)
		hooks_start(&recorder->hooks, line, length);
	return 0;
}
