/* SPDX-License-Identifier: MIT */
#include "cli/parts/job/report_job.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/output/memory_stream.h"
#include "base/text.h"
#include "cli/args/store_args.h"
#include "host/host.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "record/job/job_list.h"
#include "record/job/mark/job_place.h"
#include "record/job/job_subject.h"
#include "store/history/job/history_job_report.h"
#include "store/history/job/history_jobs.h"
#include "store/snapshot_file.h"

static bool ends_in(const char *word, const char *ending, size_t length)
{
	size_t all = strlen(word);

	return all > length && strncmp(word + all - length, ending, length) == 0;
}

bool report_word_is_file(const char *word, const char *endings)
{
	if (strchr(word, '/') || strcmp(word, "-") == 0)
		return true;
	while (*endings) {
		size_t length = strcspn(endings, " ");

		if (ends_in(word, endings, length))
			return true;
		endings += length + (endings[length] == ' ');
	}
	return false;
}

static int make_query(const char *word, struct job_query *query, struct error *error)
{
	if (!word)
		return 0;
	if (word[0] != '#')
		query->name = word;
	else if (!parse_u64(word + 1, &query->id) || !query->id)
		return error_set(error, -EINVAL, "'%s' is not the number of a job, such as #12",
				 word);
	return 0;
}

/* How long a running job has run, or that it cannot run any more, is known by this host alone. */
static int judge(struct job_report *report, struct error *error)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct job_scene scene;
	int status = host_open(&host, NULL, error);

	if (status < 0)
		return status;
	job_scene_look(&scene, host);
	job_subject_judge(&scene, &report->job);
	report->duration_ns = job_duration_ns(&report->job, &scene.now);
	return 0;
}

static char *make_parameters(const struct job_query *query, const char *step)
{
	char *text = NULL;
	size_t length;
	FILE *out = memory_stream_open(&text, &length);
	struct json json = json_line_writer(out);

	if (!out)
		return NULL;
	json_begin_object(&json);
	json_member_nonzero(&json, "id", query->id);
	json_member_given(&json, "name", query->name);
	json_member_given(&json, "step", step);
	json_end_object(&json);
	return memory_stream_line(out, &text);
}

/*
 * From the recorder of the socket, or else root's, if that takes our marks; -ENOENT: there is none, or
 * root's has no such job of ours, which *error then says.
 */
static int ask_recorder(const char *socket, const struct job_query *query, const char *step,
			struct job_report *ret, struct error *error)
{
	CLEANUP(free_pointer) char *parameters = make_parameters(query, step);
	CLEANUP(free_pointer) char *answer = NULL;
	int status;

	if (!parameters)
		return error_set(error, -ENOMEM, "out of memory");
	status = job_place_ask_root(socket, "job_report", parameters, &answer, error);
	if (status < 0)
		return socket ? status : -ENOENT;
	return job_report_read(answer, strlen(answer), ret, error);
}

/* What the recorder refused is worth more than that there is no recording of one's own. */
static int open_store(const struct store_args *store, const struct error *refusal,
		      struct history **ret, struct error *error)
{
	struct error why = { 0 };
	int status = store_args_open(store, ret, &why);
	bool is_refused = status == -ENOENT && refusal->message[0];

	return status < 0 ? error_set(error, status, "%s", (is_refused ? refusal : &why)->message) :
			    0;
}

int report_job_read(const struct store_args *store, const char *socket, const char *word,
		    const char *step, struct history **ret_history, struct job_report *ret,
		    struct error *error)
{
	struct job_query query = { .span = { 0, UINT64_MAX } };
	struct error refusal = { 0 };
	int status = make_query(word, &query, error);

	if (status == 0 && (socket || !store->store)) {
		status = ask_recorder(socket, &query, step, ret, &refusal);
		if (status == 0)
			return 0;
		if (socket || status != -ENOENT)
			return error_set(error, status, "%s", refusal.message);
		status = 0;
	}
	if (status == 0)
		status = open_store(store, &refusal, ret_history, error);
	if (status == 0)
		status = history_job_report(*ret_history, &query, step, ret, error);
	return status < 0 ? status : judge(ret, error);
}

static int ask_run(const char *socket, const struct job_report *report, void **ret,
		   size_t *ret_size, struct error *error)
{
	const struct job_query query = { .id = report->job.id };
	CLEANUP(free_pointer) char *parameters = make_parameters(&query, report->step);
	CLEANUP(free_pointer) char *answer = NULL;
	int status;

	if (!parameters)
		return error_set(error, -ENOMEM, "out of memory");
	status = job_place_ask_root(socket, "job_run", parameters, &answer, error);
	if (status == -ENOENT)
		return error_set(error, status, "the recorder ended before it gave the run");
	return status < 0 ? status : job_run_read(answer, strlen(answer), ret, ret_size, error);
}

int report_job_run(struct history *history, const char *socket, const struct job_report *report,
		   struct run **ret, struct error *error)
{
	CLEANUP(free_pointer) void *bytes = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	size_t size;
	int status;

	if (!report->has_run)
		return error_set(error, -ENODATA,
				 "there is no run of job %s (#%" PRIu64 "): only `taskscope run "
				 "--job` keeps one, and the oldest go when there is no room%s",
				 report->job.name, report->job.id,
				 report->steps.count && !report->step ?
					 "; --step K asks for that of a step" :
					 "");
	status = history ? history_report_run(history, report, &bytes, &size, error) :
			   ask_run(socket, report, &bytes, &size, error);
	if (status == 0)
		status = snapshot_file_decode("the run of the job", bytes, size, &snapshot, error);
	if (status == 0 && run_from_snapshot(snapshot, ret) < 0)
		status = error_set(error, -EBADMSG, "the run of the job cannot be read");
	return status;
}
