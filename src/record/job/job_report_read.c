/* SPDX-License-Identifier: MIT */
/* The report of a job as a recorder answers it.  What it has inside is for nobody to trust. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "record/job/job_json.h"
#include "store/json_parse.h"

static int keep(struct job_report *report, const char **text)
{
	if (!*text)
		return 0;
	*text = arena_copy(&report->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

static int keep_all(struct job_report *report, const char **const *texts, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++)
		status = keep(report, texts[i]);
	return status;
}

static int take_job(void *context, const struct job_row *row)
{
	struct job_report *report = context;
	const char **const texts[] = {
		&report->job.name,    &report->job.boot_id, &report->job.cgroup,  &report->job.cmd,
		&report->job.watched, &report->job.absent,  &report->job.details,
	};

	report->job = *row->job;
	report->duration_ns = row->duration_ns;
	return keep_all(report, texts, ARRAY_SIZE(texts));
}

static int take_step(struct job_report *report, const json_t *object)
{
	struct job_step step = {
		.job = report->job.id,
		.name = job_json_text(object, "name"),
		.begin_unix_ns = job_json_number(object, "begin_ns"),
		.end_unix_ns = job_json_number(object, "end_ns"),
		.duration_ns = job_json_number(object, "duration_ns"),
		.outcome = job_json_outcome(object),
		.root = { .pid = (int32_t)job_json_number(object, "pid") },
		.details = job_json_text(object, "details"),
	};
	const char **const texts[] = { &step.name, &step.details };

	if (!step.name)
		return -EBADMSG;
	job_json_figures(object, &step.figures, &step.memory);
	if (keep_all(report, texts, ARRAY_SIZE(texts)) < 0)
		return -ENOMEM;
	return array_append(&report->steps, step);
}

/* To be freed; NULL: out of memory. */
static char *print(const json_t *value)
{
	size_t size = json_dumpb(value, NULL, 0, JSON_COMPACT);
	char *text = calloc(1, size + 1);

	if (text)
		(void)json_dumpb(value, text, size, JSON_COMPACT);
	return text;
}

static int take_event(struct job_report *report, const json_t *object)
{
	const char *kind = job_json_text(object, "kind");
	struct job_event event = {
		.job = report->job.id,
		.kind = JOB_EVENT_KIND_COUNT,
		.step = job_json_text(object, "step"),
		.unix_ns = job_json_number(object, "ts_ns"),
		.task = { .pid = (int32_t)job_json_number(object, "pid"),
			  .start_ns = job_json_number(object, "start_time_ns") },
		.comm = job_json_text(object, "comm"),
		.details = job_json_text(object, "details"),
		.count = job_json_number(object, "count"),
	};
	const char **const texts[] = { &event.step, &event.comm, &event.details };
	const json_t *context = json_object_get(object, "context");
	CLEANUP(free_pointer) char *surroundings = context ? print(context) : NULL;

	for (int i = 0; kind && i < JOB_EVENT_KIND_COUNT; i++)
		if (strcmp(job_event_names[i], kind) == 0)
			event.kind = (enum job_event_kind)i;
	if (event.kind == JOB_EVENT_KIND_COUNT)
		return -EBADMSG;
	event.count += !event.count;
	event.context = surroundings;
	if (keep_all(report, texts, ARRAY_SIZE(texts)) < 0 || keep(report, &event.context) < 0)
		return -ENOMEM;
	return array_append(&report->events, event);
}

static int take_syscall(struct job_report *report, const json_t *object)
{
	struct job_syscall call = {
		.name = job_json_text(object, "name"),
		.calls = job_json_number(object, "calls"),
		.errors = job_json_number(object, "errors"),
		.time_ns = job_json_number(object, "time_ns"),
	};

	if (!call.name)
		return -EBADMSG;
	return keep(report, &call.name) < 0 ? -ENOMEM : array_append(&report->syscalls, call);
}

static int take_list(struct job_report *report, const json_t *root, const char *key,
		     int take(struct job_report *report, const json_t *object))
{
	const json_t *list = json_object_get(root, key);
	int status = json_is_array(list) ? 0 : -EBADMSG;

	for (size_t i = 0; status == 0 && i < json_array_size(list); i++)
		status = take(report, json_array_get(list, i));
	return status;
}

static int read_all(struct job_report *report, const json_t *root)
{
	const json_t *job = json_object_get(root, "job");
	int status = json_is_object(job) ? job_json_give(job, take_job, report) : -EBADMSG;

	if (status == 0)
		status = take_list(report, root, "steps", take_step);
	if (status == 0)
		status = take_list(report, root, "events", take_event);
	if (status == 0)
		status = take_list(report, root, "syscalls", take_syscall);
	/* Of one step, that alone is answered. */
	if (status == 0 && job_json_text(root, "step") && !report->steps.count)
		status = -EBADMSG;
	if (status == 0 && job_json_text(root, "step"))
		report->step = report->steps.data[0].name;
	report->has_run = json_is_true(json_object_get(root, "has_run"));
	return status;
}

int job_report_read(const char *document, size_t length, struct job_report *ret,
		    struct error *error)
{
	json_t *root = NULL;
	json_error_t why;
	int status = json_parse(document, length, 0, &root, &why);

	*ret = (struct job_report){ 0 };
	if (status == 0)
		status = read_all(ret, root);
	json_decref(root);
	return status < 0 ? error_set(error, status, "the recorder answered nonsense") : 0;
}

int job_run_read(const char *document, size_t length, void **ret, size_t *ret_size,
		 struct error *error)
{
	json_t *root = NULL;
	json_error_t why;
	int status = json_parse(document, length, 0, &root, &why);
	const json_t *run = json_object_get(root, "run");

	if (status == 0)
		status = json_is_string(run) ?
				 base64_decode(json_string_value(run), json_string_length(run), ret,
					       ret_size) :
				 -EBADMSG;
	json_decref(root);
	return status < 0 ? error_set(error, status, "the recorder answered nonsense") : 0;
}
