/* SPDX-License-Identifier: MIT */
#include "record/job/mark/job_marks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "model/record/job/job_run.h"
#include "record/job/job_list.h"
#include "record/job/mark/job_store.h"
#include "record/job/job_subject.h"
#include "record/recorder_state.h"
#include "record/socket/server.h"
#include "record/socket/server_request.h"
#include "render/outcome/job_report_view.h"
#include "store/history/job/history_job_report.h"
#include "store/snapshot_file.h"

/* A mark that is being taken. */
struct marking {
	struct recorder *recorder;
	struct job_mark *mark;
	struct job_marked marked;
	uint64_t steps; /* that the job has */
	struct error *error;
};

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK)

/*
 * The file is of a stranger: only one that is in memory and that nobody can change any more can be
 * read without waiting.  What it has inside is for those to judge who read it, as of any file.
 */
static int read_run(const struct server_client *client, struct job_measured *ret, void **ret_bytes,
		    struct error *error)
{
	size_t most = client->sees_all ? JOB_RUN_BYTES_MOST : JOB_RUN_BYTES_OF_STRANGER;
	int seals = fcntl(client->file, F_GET_SEALS);
	struct stat found;

	if (seals < 0 || (seals & SEALS) != SEALS || fstat(client->file, &found) < 0 ||
	    found.st_size <= 0)
		return error_set(error, -EINVAL, "a run comes as a sealed memfd");
	ret->run_size = (size_t)found.st_size;
	if (ret->run_size > most)
		return 0;
	*ret_bytes = malloc(ret->run_size);
	if (!*ret_bytes)
		return error_set(error, -ENOMEM, "not enough memory");
	if (file_read_at(client->file, 0, *ret_bytes, ret->run_size) != found.st_size ||
	    !snapshot_file_is_likely(*ret_bytes, ret->run_size))
		return error_set(error, -EINVAL, "what came with the request is no run");
	ret->run = *ret_bytes;
	return 0;
}

static int start(struct marking *marking)
{
	const struct job_mark *mark = marking->mark;
	struct job job = {
		.name = mark->name,
		.root = mark->root,
		.cgroup = mark->cgroup,
		.cmd = mark->cmd,
		.watched = mark->watched,
		.uid = mark->uid,
		.steps = mark->steps,
	};
	int status = job_tracker_begin(marking->recorder->jobs, &job, mark->takes_children,
				       marking->error);

	marking->marked.job = job.id;
	return status;
}

static int count_step(void *context, const struct job_step *step)
{
	struct marking *marking = context;

	(void)step;
	marking->steps++;
	return 0;
}

static int step(struct marking *marking)
{
	const struct job_mark *mark = marking->mark;
	int status = 0;

	if (!mark->step)
		status = history_job_steps(marking->recorder->history, marking->marked.job,
					   count_step, marking, marking->error);
	if (status < 0)
		return status;
	if (mark->step)
		snprintf(marking->marked.step, JOB_NAME_SIZE, "%s", mark->step);
	else
		snprintf(marking->marked.step, JOB_NAME_SIZE, "%" PRIu64, marking->steps + 1);
	return job_tracker_step(marking->recorder->jobs, marking->marked.job, marking->marked.step,
				mark->root.pid ? &mark->root : NULL, marking->error);
}

static int end(struct marking *marking)
{
	struct history *history = marking->recorder->history;
	const struct job_mark *mark = marking->mark;
	const struct job_result result = {
		.outcome = mark->outcome,
		.has_status = mark->has_status,
		.status = mark->status,
		.figures = mark->is_measured ? &mark->measured.figures : NULL,
		.memory = mark->measured.memory,
		.absent = mark->is_measured ? job_run_lacks(&mark->measured.figures) : NULL,
		.duration_ns = mark->measured.duration_ns,
	};
	uint64_t job = marking->marked.job;
	int status = mark->step ?
			     job_tracker_end_step(marking->recorder->jobs, job, mark->step, &result,
						  marking->error) :
			     job_tracker_end(marking->recorder->jobs, job, &result, marking->error);

	if (status == 0 && mark->measured.details)
		status = history_put_job_details(history, job, mark->step, mark->measured.details,
						 marking->error);
	return status < 0 ? status :
			    job_store_measured(history, job, mark->step, &mark->measured,
					       marking->error);
}

static int note_job(void *context, const struct job *job)
{
	struct marking *marking = context;

	marking->marked.job = job->id;
	return 1;
}

static void write_reply(const struct marking *marking, FILE *out)
{
	CLEANUP(free_pointer) char *store = realpath(marking->recorder->options->store, NULL);
	struct json json = json_writer(out);

	json.one_line = true;
	json.exact = true;
	json_begin_object(&json);
	json_member_u64(&json, "job", marking->marked.job);
	if (marking->marked.step[0])
		json_member_string(&json, "step", marking->marked.step);
	json_member_given(&json, "store", store);
	json_end_object(&json);
}

/* Finds the job that the mark is about, and does what it says. */
static int apply(struct marking *marking, const struct server_client *client)
{
	struct job_mark *mark = marking->mark;
	bool is_watcher = mark->watches && client->pid > 0 && client->pid == mark->root.pid;
	int status = 0;

	if (mark->kind != JOB_MARK_START)
		status = job_store_find(marking->recorder->history, mark, note_job, marking,
					marking->error);
	if (status < 0 || (mark->kind != JOB_MARK_START && !marking->marked.job))
		return status;
	if (client->pid > 0 && client->pid != mark->root.pid)
		job_tracker_exclude(marking->recorder->jobs, client->pid);
	/* It may have been part of a job so far, and is of one from now on. */
	if (is_watcher)
		job_tracker_note_watcher(marking->recorder->jobs, client->pid);
	status = mark->kind == JOB_MARK_START ? start(marking) :
		 mark->kind == JOB_MARK_STEP  ? step(marking) :
						end(marking);
	if (status == 0 && is_watcher)
		job_tracker_note_watcher(marking->recorder->jobs, client->pid);
	if (status == 0)
		status = history_commit(marking->recorder->history, marking->error);
	return status;
}

static int take(struct recorder *recorder, enum job_mark_kind kind,
		const struct server_client *client, const struct server_request *request, FILE *out,
		struct error *error)
{
	CLEANUP(free_pointer) struct job_mark *mark = calloc(1, sizeof(*mark));
	CLEANUP(free_pointer) void *run = NULL;
	struct marking marking = { .recorder = recorder, .mark = mark, .error = error };
	struct job_scene scene;
	int status;

	if (!mark)
		return error_set(error, -ENOMEM, "not enough memory");
	status = job_mark_read(request, kind, mark, error);
	mark->uid = client->uid;
	job_scene_look(&scene, recorder->host);
	if (status == 0)
		status = job_subject_check(&scene, mark, error);
	if (status == 0 && mark->is_measured && client->file >= 0)
		status = read_run(client, &mark->measured, &run, error);
	if (status == 0)
		status = apply(&marking, client);
	if (status == 0)
		write_reply(&marking, out);
	return status;
}

int job_marks_start(void *recorder, const struct server_client *client,
		    const struct server_request *request, FILE *out, struct error *error)
{
	return take(recorder, JOB_MARK_START, client, request, out, error);
}

int job_marks_step(void *recorder, const struct server_client *client,
		   const struct server_request *request, FILE *out, struct error *error)
{
	return take(recorder, JOB_MARK_STEP, client, request, out, error);
}

int job_marks_end(void *recorder, const struct server_client *client,
		  const struct server_request *request, FILE *out, struct error *error)
{
	return take(recorder, JOB_MARK_END, client, request, out, error);
}

struct answering {
	const struct server_client *client;
	struct json json;
	uint64_t own[JOB_LIST_MOST]; /* jobs of the client, the newest first */
	size_t own_count, next;
};

static int write_job(void *context, const struct job_row *row)
{
	struct answering *answering = context;
	bool is_own = answering->client->sees_all || row->job->uid == answering->client->uid;

	job_json(&answering->json, row, is_own);
	if (is_own)
		answering->own[answering->own_count++] = row->job->id;
	return 0;
}

static int write_hotspot(void *context, const struct job_hotspot *hotspot)
{
	struct answering *answering = context;
	struct json *json = &answering->json;

	while (answering->next < answering->own_count &&
	       answering->own[answering->next] > hotspot->job)
		answering->next++;
	if (answering->next == answering->own_count ||
	    answering->own[answering->next] != hotspot->job)
		return 0;
	json_begin_object(json);
	json_member_u64(json, "job", hotspot->job);
	json_member_string(json, "name", hotspot->name);
	json_member_u64(json, "time_ns", hotspot->time_ns);
	json_member_double(json, "all_ns", hotspot->all_ns);
	json_end_object(json);
	return 0;
}

/* The system call with the most time of each job that is the client's. */
static int write_hotspots(struct answering *answering, struct history *history, struct error *error)
{
	int status = 0;

	json_member_array(&answering->json, "hotspots");
	if (answering->own_count)
		status = history_job_hotspots(history, answering->own[answering->own_count - 1],
					      answering->own[0], write_hotspot, answering, error);
	json_end_array(&answering->json);
	return status;
}

int job_marks_list(void *context, const struct server_client *client,
		   const struct server_request *request, FILE *out, struct error *error)
{
	struct recorder *recorder = context;
	struct answering answering = { .client = client, .json = json_writer(out) };
	int64_t limit = server_request_number(request, "limit");
	int64_t from = server_request_number(request, "from_ns");
	int64_t below = server_request_number(request, "below");
	const struct job_query query = {
		.span = { from > 0 ? (uint64_t)from : 0, UINT64_MAX },
		.name = server_request_text(request, "name"),
		.has_uid = server_request_number(request, "own") != 0,
		.uid = client->uid,
		.running_only = server_request_number(request, "running") != 0,
		.below_id = below > 0 ? (uint64_t)below : 0,
		.limit = limit > 0 && limit <= JOB_LIST_MOST ? (size_t)limit : JOB_LIST_MOST,
	};
	struct job_scene scene;
	int status;

	answering.json.one_line = true;
	job_scene_look(&scene, recorder->host);
	json_begin_object(&answering.json);
	json_member_array(&answering.json, "jobs");
	status = job_list(recorder->history, &scene, &query, write_job, &answering, error);
	json_end_array(&answering.json);
	if (status == 0)
		status = write_hotspots(&answering, recorder->history, error);
	json_end_object(&answering.json);
	return status;
}

static struct job_query report_query(const struct server_client *client,
				     const struct server_request *request)
{
	int64_t id = server_request_number(request, "id");

	return (struct job_query){
		.span = { 0, UINT64_MAX },
		.id = id > 0 ? (uint64_t)id : 0,
		.name = server_request_text(request, "name"),
		.has_uid = !client->sees_all,
		.uid = client->uid,
	};
}

int job_marks_report(void *context, const struct server_client *client,
		     const struct server_request *request, FILE *out, struct error *error)
{
	CLEANUP(job_report_clear) struct job_report report = { 0 };
	struct recorder *recorder = context;
	const struct job_query query = report_query(client, request);
	struct json json = json_writer(out);
	struct job_scene scene;
	int status = history_job_report(recorder->history, &query,
					server_request_text(request, "step"), &report, error);

	if (status < 0)
		return status;
	job_scene_look(&scene, recorder->host);
	job_subject_judge(&scene, &report.job);
	report.duration_ns = job_duration_ns(&report.job, &scene.now);
	json.one_line = true;
	json.exact = true;
	job_report_json(&json, &report);
	return 0;
}

int job_marks_run(void *context, const struct server_client *client,
		  const struct server_request *request, FILE *out, struct error *error)
{
	CLEANUP(job_report_clear) struct job_report report = { 0 };
	CLEANUP(free_pointer) void *bytes = NULL;
	struct recorder *recorder = context;
	const struct job_query query = report_query(client, request);
	FILE *letters;
	size_t size = 0;
	int status = history_job_report(recorder->history, &query,
					server_request_text(request, "step"), &report, error);

	if (status == 0)
		status = history_report_run(recorder->history, &report, &bytes, &size, error);
	if (status < 0)
		return status;
	fputs("{\"run\":\"", out);
	letters = base64_stream(out);
	if (letters)
		(void)fwrite(bytes, 1, size, letters);
	status = letters && fclose(letters) == 0 ? 0 : error_set(error, -ENOMEM, "out of memory");
	fputs("\"}", out);
	return status;
}
