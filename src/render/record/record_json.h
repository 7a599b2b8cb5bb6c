/* SPDX-License-Identifier: MIT */
/*
 * This room shows recordings.  This header writes what they have besides snapshots as JSON: the
 * same objects go to the lines of `record --jsonl`, through the recorder's socket, and to the
 * output of the verbs that read a recording.  docs/json.md lists the keys.
 */
#ifndef RENDER_RECORD_JSON_H
#define RENDER_RECORD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/host_sample.h"

struct anomaly;
struct json;
struct life_event;
struct process_call;
struct snapshot;

/* Each writes one object with the key "kind".  With `shows_command`, command lines are included. */
void life_event_json(struct json *json, const struct life_event *event, bool shows_command);
void anomaly_json(struct json *json, const struct anomaly *anomaly);
void host_sample_json(struct json *json, const struct host_sample *sample);
/* The same with these figures alone. */
void host_values_json(struct json *json, const struct host_sample *sample,
		      const enum host_value *values, size_t count);

/* What is not in the snapshot itself. */
struct process_figures {
	uint64_t unix_ns;
	bool has_cpu;
	double cpu_percent; /* of one core, since the tick before */
	bool cpu_is_least;  /* threads that exited since are not in it */
	/* System calls that took most time since the tick before. */
	bool has_calls;
	const char
		*calls_absent; /* why there are none, although they are recorded; NULL: there are */
	const struct process_call *calls;
	size_t call_count;
};

/* A process at one tick: its identity, and its metrics folded over its threads by their ids. */
void process_json(struct json *json, const struct snapshot *snapshot, uint32_t process,
		  const struct process_figures *figures, bool shows_command);

#endif
