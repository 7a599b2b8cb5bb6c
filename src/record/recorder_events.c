/* SPDX-License-Identifier: MIT */
/*
 * What happens between ticks: events of processes, anomalies that open and close, and samples out of
 * turn of the processes that these concern.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/anomaly/detector.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "record/job/job_tracker.h"
#include "record/recorder_state.h"
#include "record/socket/server.h"
#include "render/record/record_json.h"
#include "trace/life/lifecycle.h"

/* Events are kept at most this long before they are durable and others can read them. */
#define COMMIT_WAIT_NS NS_PER_SECOND

void recorder_note_pending(struct recorder *recorder)
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
	bool has_uid = event->present & LIFE_HAS_UID;
	FILE *out = rotated_lines_begin_of(&recorder->lines,
					   has_uid ? (int64_t)event->uid : LINE_USER_UNKNOWN);
	struct json json;

	if (!out)
		return;
	json = json_line_writer(out);
	life_event_json(&json, event, true);
	rotated_lines_end(&recorder->lines);
}

static int take_event(struct recorder *recorder, const struct life_event *event)
{
	struct error error = { 0 };
	int status = history_add_event(recorder->history, event, &error);

	if (recorder->options->tree_pid || recorder->options->cgroup)
		ended_note(&recorder->ended, event);
	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
	recorder_note_pending(recorder);
	write_event_line(recorder, event);
	server_publish_event(recorder->server, event);
	return detector_take_event(recorder->detector, event, recorder_take_anomaly, recorder);
}

/* An OOM kill has its evidence with it: soon nobody can tell any more who was large then. */
int recorder_take_event(void *context, const struct life_event *event)
{
	CLEANUP(text_free) struct text evidence = { 0 };
	struct recorder *recorder = context;
	struct life_event with_evidence = *event;

	if (event->kind != LIFE_OOM || event->details)
		return take_event(recorder, event);
	detector_describe_oom(recorder->detector, event, &evidence);
	with_evidence.details = text_string(&evidence);
	return take_event(recorder, &with_evidence);
}

/* Jobs need each event: what their processes used is in it. */
int recorder_witness(void *context, const struct life_event *event)
{
	struct recorder *recorder = context;

	return job_tracker_take_event(recorder->jobs, event);
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

static void write_anomaly_line(struct recorder *recorder, const struct anomaly *anomaly,
			       const char *line, size_t length)
{
	FILE *out = anomaly->has_uid ? rotated_lines_begin_of(&recorder->lines, anomaly->uid) :
				       rotated_lines_begin(&recorder->lines);

	if (!out)
		return;
	fwrite(line, 1, length, out);
	rotated_lines_end(&recorder->lines);
}

/* Processes that an anomaly concerns are sampled each second until it is over. */
static void set_burst(struct recorder *recorder)
{
	bool is_wanted = detector_open_count(recorder->detector) > 0 &&
			 recorder->options->interval_ns > NS_PER_SECOND;

	if (!is_wanted)
		recorder->burst_due.deadline_ns = LOOP_NEVER;
	else if (recorder->burst_due.deadline_ns == LOOP_NEVER)
		recorder->burst_due.deadline_ns = monotonic_ns() + NS_PER_SECOND;
}

int recorder_take_anomaly(void *context, enum anomaly_change change, const struct anomaly *found)
{
	struct recorder *recorder = context;
	struct anomaly named = *found;
	const struct anomaly *anomaly = &named;
	CLEANUP(free_pointer) char *line = NULL;
	struct error error = { 0 };
	size_t length = 0;
	struct json json;
	FILE *out;
	int status;

	job_tracker_take_anomaly(recorder->jobs, change == ANOMALY_OPENED, &named);
	status = history_put_anomaly(recorder->history, change, anomaly, &error);
	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
	recorder_note_pending(recorder);
	set_burst(recorder);
	if (change == ANOMALY_CHANGED)
		return 0;
	out = memory_stream_open(&line, &length);
	if (!out)
		return -ENOMEM;
	json = json_line_writer(out);
	anomaly_json(&json, anomaly);
	if (fclose(out) != 0)
		return -ENOMEM;
	write_anomaly_line(recorder, anomaly, line, length);
	server_publish_anomaly(recorder->server, anomaly);
	if (change != ANOMALY_GREW)
		hooks_start(&recorder->hooks, line, length);
	return 0;
}

/* The processes that open anomalies concern; the sampling of others goes on with these. */
static int plan_burst(struct recorder *recorder)
{
	const struct detector *detector = recorder->detector;
	const struct snapshot *snapshot = recorder->last.snapshot;
	int32_t *pids = calloc(snapshot->process_count + 1, sizeof(*pids));
	size_t count = 0;

	if (!pids)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];

		if (detector_concerns(detector, process->tgid, process->start_time_ns))
			pids[count++] = process->tgid;
	}
	if (count == recorder->burst_count &&
	    (!count || memcmp(pids, recorder->burst_pids, count * sizeof(*pids)) == 0)) {
		free(pids);
		return 0;
	}
	if (recorder->burst)
		sampling_set_pids(recorder->burst, pids, count);
	free(recorder->burst_pids);
	recorder->burst_pids = pids;
	recorder->burst_count = count;
	return 0;
}

static int open_burst(struct recorder *recorder, struct error *error)
{
	struct capture_options capture = {
		.lister = recorder->options->lister,
		.pids = recorder->burst_pids,
		.pid_count = recorder->burst_count,
		.no_jemalloc_oracle = true,
	};

	return sampling_open(recorder->host, &capture, &recorder->burst, error);
}

static void keep_burst(struct recorder *recorder, const struct snapshot *snapshot, uint64_t cost_ns)
{
	const struct history_tick tick = {
		.snapshot = snapshot,
		.is_burst = true,
		.cost_ns = cost_ns,
	};
	struct error error = { 0 };
	int status = history_add_tick(recorder->history, &tick, &error);

	if (status == 0)
		status = history_commit(recorder->history, &error);
	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
}

/* Once loaded, it stays so: what an anomaly concerns changes often. */
void recorder_take_burst(void *context)
{
	struct recorder *recorder = context;
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	uint64_t begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct error error = { 0 };

	recorder->burst_due.deadline_ns = monotonic_ns() + NS_PER_SECOND;
	if (recorder->budget.shed >= SHED_BURSTS || !recorder->last.snapshot ||
	    plan_burst(recorder) < 0 || !recorder->burst_count)
		return;
	if (!recorder->burst && open_burst(recorder, &error) < 0)
		return;
	if (sampling_take(recorder->burst, &snapshot, &error) == 0)
		keep_burst(recorder, snapshot, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns);
	recorder->burst_cost_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
}
