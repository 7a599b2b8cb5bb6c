/* SPDX-License-Identifier: MIT */
/*
 * What surrounds a process or the host at a moment: for clients of the socket that log it beside
 * their own events, and kept with what happens in jobs.
 */
#include <stdio.h>
#include <time.h>

#include "analyze/anomaly/detector.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "model/syscall/syscall.h"
#include "record/job/job_tracker.h"
#include "record/recorder_state.h"
#include "render/record/record_json.h"
#include "store/history/history_activity.h"

#define HOTSPOT_NS (10 * NS_PER_SECOND)
/* Of the whole host, where the process has none of its own. */
#define ANOMALIES_OF_EVENT 8

void recorder_anomalies_json(struct json *json, const struct recorder *recorder,
			     const struct process *process, size_t most)
{
	json_member_array(json, "anomalies");
	for (size_t i = 0; i < detector_open_count(recorder->detector) && most; i++) {
		const struct anomaly *anomaly = detector_open(recorder->detector, i);
		struct anomaly named = *anomaly;

		if (process && (anomaly->task.pid != process->tgid ||
				anomaly->task.start_ns != process->start_time_ns))
			continue;
		most--;
		job_tracker_name_anomaly(recorder->jobs, &named);
		anomaly_json(json, &named);
	}
	json_end_array(json);
}

/* What the threads of a process were found to do most. */
struct hotspot {
	char syscall[SYSCALL_NAME_SIZE]; /* "": in none */
	uint64_t samples, all;
};

static int take_hotspot(void *context, const struct activity_group *group)
{
	struct hotspot *hotspot = context;

	hotspot->all += group->samples;
	if (!group->values[0] || hotspot->samples)
		return 0;
	snprintf(hotspot->syscall, sizeof(hotspot->syscall), "%s", group->values[0]);
	hotspot->samples = group->samples;
	return 0;
}

/*
 * By the time in calls since the tick before, where these are recorded; else by the activity of the
 * last seconds; where there is none, nothing is known.
 */
static void write_hotspot(struct json *json, const struct recorder *recorder,
			  const struct process *process)
{
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	const struct activity_query query = {
		.span = { now_ns > HOTSPOT_NS ? now_ns - HOTSPOT_NS : 0, UINT64_MAX },
		.pid = process->tgid,
		.start_ns = process->start_time_ns,
		.keys = { ACTIVITY_BY_syscall },
		.key_count = 1,
	};
	double share = 0;
	const char *call = recorder_syscall_hotspot(recorder, process, &share);
	struct hotspot hotspot = { 0 };
	struct error ignored = { 0 };

	if (call) {
		json_member_string(json, "syscall_hotspot", call);
		json_member_fixed(json, "syscall_hotspot_share", share, 3);
		return;
	}
	if (!recorder->has_activity ||
	    history_activity(recorder->history, &query, take_hotspot, &hotspot, &ignored) < 0 ||
	    !hotspot.samples)
		return;
	json_member_string(json, "syscall_hotspot", hotspot.syscall);
	json_member_fixed(json, "syscall_hotspot_share",
			  (double)hotspot.samples / (double)hotspot.all, 3);
}

/* Of the last tick, but jobs and steps are those of now. */
static void write_surroundings(struct json *json, const struct recorder *recorder)
{
	static const enum host_value values[] = {
		HOST_VALUE_cpu_busy_percent,
		HOST_VALUE_memory_available_bytes,
		HOST_VALUE_pressure_memory_some_percent,
		HOST_VALUE_recorder_rss_bytes,
	};
	const struct host_sample *sample = &recorder->last.sample;

	json_member_string(json, "pressure_level", pressure_level_names[sample->pressure_level]);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (host_sample_has(sample, values[i]))
			json_member_double(json, host_values[values[i]].name,
					   sample->values[values[i]]);
	json_member_u64(json, "running_jobs", job_tracker_count(recorder->jobs));
	json_member_u64(json, "active_steps", job_tracker_active_steps(recorder->jobs));
}

void recorder_context_json(struct json *json, const struct recorder *recorder,
			   const struct recorder_context *context)
{
	const struct snapshot *snapshot = recorder->last.snapshot;
	const struct process *process = NULL;

	json_begin_object(json);
	if (snapshot && context->row >= 0) {
		struct process_figures figures = recorder_figures(recorder, (uint32_t)context->row);

		process = &snapshot->processes[context->row];
		json_key(json, "process");
		process_json(json, snapshot, (uint32_t)context->row, &figures,
			     context->shows_command);
	}
	if (!process && context->event) {
		json_key(json, "process");
		life_event_json(json, context->event, false);
	}
	if (snapshot && context->has_host) {
		json_key(json, "host");
		host_sample_json(json, &recorder->last.sample);
	}
	if (process && context->has_hotspot)
		write_hotspot(json, recorder, process);
	recorder_anomalies_json(json, recorder, process,
				process || context->has_host ? SIZE_MAX : ANOMALIES_OF_EVENT);
	if (snapshot)
		write_surroundings(json, recorder);
	json_end_object(json);
}
