/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "record/job/job_json.h"
#include "store/json_parse.h"

uint64_t job_json_number(const json_t *object, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(object, key));

	return number > 0 ? (uint64_t)number : 0;
}

const char *job_json_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

enum job_outcome job_json_outcome(const json_t *object)
{
	const char *outcome = job_json_text(object, "outcome");
	int found = outcome ? job_outcome_find(outcome) : -1;

	if (outcome && strcmp(outcome, job_outcome_names[JOB_RUNNING]) == 0)
		return JOB_RUNNING;
	return found < 0 ? JOB_UNKNOWN : (enum job_outcome)found;
}

void job_json_figures(const json_t *object, struct job_figures *figures,
		      enum job_memory *ret_memory)
{
	const char *memory = job_json_text(object, "memory");

	for (int i = 0; i < JOB_VALUE_COUNT; i++) {
		const json_t *number = json_object_get(object, job_values[i].name);

		if (json_is_number(number))
			job_set(figures, (enum job_value)i, json_number_value(number));
	}
	for (int i = 0; memory && i < JOB_MEMORY_COUNT; i++)
		if (strcmp(memory, job_memory_names[i]) == 0)
			*ret_memory = (enum job_memory)i;
}

int job_json_give(const json_t *object, job_row_sink *sink, void *context)
{
	const char *name = job_json_text(object, "name");
	int32_t pid = (int32_t)job_json_number(object, "pid");
	struct job job = {
		.id = job_json_number(object, "id"),
		.name = name ? name : "?",
		.begin_unix_ns = job_json_number(object, "begin_ns"),
		.end_unix_ns = job_json_number(object, "end_ns"),
		.duration_ns = job_json_number(object, "duration_ns"),
		.boot_id = job_json_text(object, "boot_id"),
		.outcome = job_json_outcome(object),
		.has_status = json_object_get(object, "exit_status"),
		.status = (int)(job_json_number(object, "exit_status") & 0xff) << 8,
		.root = { pid, pid, job_json_number(object, "start_time_ns") },
		.cgroup = job_json_text(object, "cgroup"),
		.cmd = job_json_text(object, "cmd"),
		.watched = job_json_text(object, "watched"),
		.uid = (uint32_t)job_json_number(object, "uid"),
		.steps = job_json_number(object, "steps"),
		.absent = job_json_text(object, "absent"),
		.details = job_json_text(object, "details"),
	};
	const struct job_row row = { &job, job.duration_ns, job_json_text(object, "step") };

	job_json_figures(object, &job.figures, &job.memory);
	return sink(context, &row);
}

int job_list_read(const char *document, size_t length, job_row_sink *sink, void *context,
		  struct error *error)
{
	json_t *root = NULL, *jobs, *object;
	json_error_t why;
	size_t i;
	int status = json_parse(document, length, 0, &root, &why);

	jobs = json_object_get(root, "jobs");
	if (status == 0 && !json_is_array(jobs))
		status = -EBADMSG;
	if (status < 0)
		error_set(error, status, "the recorder answered nonsense");
	json_array_foreach(jobs, i, object)
	{
		if (status == 0)
			status = job_json_give(object, sink, context);
	}
	json_decref(root);
	return status;
}
