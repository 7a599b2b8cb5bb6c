/* SPDX-License-Identifier: MIT */
/*
 * What clients of the recorder's socket can ask.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "record/job/mark/job_marks.h"
#include "record/recorder_state.h"
#include "record/socket/server.h"
#include "record/socket/server_request.h"
#include "render/record/record_json.h"

#define EVENTS_DEFAULT 50
#define EVENTS_MOST 10000

static struct json reply_writer(FILE *out)
{
	struct json json = json_writer(out);

	json.one_line = true;
	return json;
}

static bool sees(const struct recorder *recorder, const struct server_client *client, uint32_t row)
{
	uint64_t uid;

	return client->sees_all ||
	       (snapshot_get(recorder->last.snapshot, METRIC_uid, row, &uid) && uid == client->uid);
}

static int check_tick(const struct recorder *recorder, struct error *error)
{
	if (recorder->last.snapshot)
		return 0;
	return error_set(error, -EAGAIN, "there is no tick yet");
}

static void write_process(struct json *json, const struct recorder *recorder,
			  const struct server_client *client, uint32_t row)
{
	struct process_figures figures = recorder_figures(recorder, row);

	process_json(json, recorder->last.snapshot, row, &figures, sees(recorder, client, row));
}

static int answer_latest(void *context, const struct server_client *client,
			 const struct server_request *request, FILE *out, struct error *error)
{
	const struct recorder *recorder = context;
	struct json json = reply_writer(out);
	int status = check_tick(recorder, error);

	(void)request;
	if (status < 0)
		return status;
	json_begin_object(&json);
	json_key(&json, "host");
	host_sample_json(&json, &recorder->last.sample);
	json_member_array(&json, "processes");
	for (uint32_t row = 0; row < recorder->last.snapshot->process_count; row++)
		write_process(&json, recorder, client, row);
	json_end_array(&json);
	recorder_anomalies_json(&json, recorder, NULL, SIZE_MAX);
	recorder_traced_json(&json, recorder);
	if (recorder->gpu_lacks && recorder->gpu_lacks[0])
		json_member_string(&json, "gpu_absent", recorder->gpu_lacks);
	json_end_object(&json);
	return 0;
}

/* Where it records, for those who name no recording. */
static int answer_store(void *context, const struct server_client *client,
			const struct server_request *request, FILE *out, struct error *error)
{
	const struct recorder *recorder = context;
	CLEANUP(free_pointer) char *store = realpath(recorder->options->store, NULL);
	struct json json = reply_writer(out);

	(void)client;
	(void)request;
	if (!store)
		return error_set(error, -errno, "the recording was moved away");
	json_begin_object(&json);
	json_member_string(&json, "store", store);
	json_end_object(&json);
	return 0;
}

static int answer_stream(void *context, const struct server_client *client,
			 const struct server_request *request, FILE *out, struct error *error)
{
	(void)context;
	(void)client;
	(void)request;
	(void)error;
	fputs("{\"streaming\":true}", out);
	return 0;
}

struct event_writer {
	struct json *json;
	const struct server_client *client;
};

static int write_event(void *context, const struct life_event *event)
{
	struct event_writer *writer = context;
	bool shows = writer->client->sees_all ||
		     (event->present & LIFE_HAS_UID && event->uid == writer->client->uid);

	life_event_json(writer->json, event, shows);
	return 0;
}

static int answer_events(void *context, const struct server_client *client,
			 const struct server_request *request, FILE *out, struct error *error)
{
	struct recorder *recorder = context;
	struct json json = reply_writer(out);
	struct event_writer writer = { &json, client };
	int64_t limit = server_request_number(request, "limit");
	struct event_query query = {
		.span = { 0, UINT64_MAX },
		.limit = limit > 0 && limit <= EVENTS_MOST ? (size_t)limit : EVENTS_DEFAULT,
	};
	int status = server_request_pid(request, &query.pid, error);

	if (status < 0)
		return status;
	json_begin_object(&json);
	json_member_array(&json, "events");
	status = history_events(recorder->history, &query, write_event, &writer, NULL, error);
	json_end_array(&json);
	json_end_object(&json);
	return status;
}

/* What surrounds a process, or the host: for other programs that log it beside their own events. */
static int answer_context(void *context, const struct server_client *client,
			  const struct server_request *request, FILE *out, struct error *error)
{
	const struct recorder *recorder = context;
	int32_t pid = 0;
	struct json json = reply_writer(out);
	int status = check_tick(recorder, error);
	int64_t row = -1;

	if (status == 0)
		status = server_request_pid(request, &pid, error);
	if (status == 0 && pid)
		row = snapshot_find_process(recorder->last.snapshot, pid);
	if (status == 0 && pid && row < 0)
		status = error_set(error, -ESRCH, "the last tick has no process %" PRId32, pid);
	if (status < 0)
		return status;
	recorder_context_json(
		&json, recorder,
		&(struct recorder_context){
			.row = row,
			.shows_command = row >= 0 && sees(recorder, client, (uint32_t)row),
			.has_hotspot = row >= 0 && sees(recorder, client, (uint32_t)row),
			.has_host = row < 0,
		});
	return 0;
}

static const struct server_method methods[] = {
	{ "latest", answer_latest, false },	   { "store", answer_store, false },
	{ "stream", answer_stream, true },	   { "events", answer_events, false },
	{ "context", answer_context, false },	   { "jobs", job_marks_list, false },
	{ "job_report", job_marks_report, false }, { "job_run", job_marks_run, false },
	{ "job_start", job_marks_start, false },   { "job_step", job_marks_step, false },
	{ "job_end", job_marks_end, false },	   { 0 },
};

int recorder_serve(struct recorder *recorder, struct error *error)
{
	return server_open(&recorder->loop, recorder->options->socket, methods, recorder,
			   &recorder->server, error);
}
