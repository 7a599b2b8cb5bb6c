/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "record/job/job_list.h"
#include "store/json_parse.h"

static uint64_t number_of(const json_t *object, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(object, key));

	return number > 0 ? (uint64_t)number : 0;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void read_figures(const json_t *object, struct job *ret)
{
	const char *memory = text_of(object, "memory");

	for (int i = 0; i < JOB_VALUE_COUNT; i++) {
		const json_t *number = json_object_get(object, job_values[i].name);

		if (json_is_number(number))
			job_set(&ret->figures, (enum job_value)i, json_number_value(number));
	}
	for (int i = 0; memory && i < JOB_MEMORY_COUNT; i++)
		if (strcmp(memory, job_memory_names[i]) == 0)
			ret->memory = (enum job_memory)i;
}

static int give(const json_t *object, job_row_sink *sink, void *context)
{
	const char *name = text_of(object, "name"), *outcome = text_of(object, "outcome");
	int32_t pid = (int32_t)number_of(object, "pid");
	int found = outcome ? job_outcome_find(outcome) : -1;
	struct job job = {
		.id = number_of(object, "id"),
		.name = name ? name : "?",
		.begin_unix_ns = number_of(object, "begin_ns"),
		.end_unix_ns = number_of(object, "end_ns"),
		.duration_ns = number_of(object, "duration_ns"),
		.boot_id = text_of(object, "boot_id"),
		.outcome = found < 0 ? JOB_UNKNOWN : (enum job_outcome)found,
		.has_status = json_object_get(object, "exit_status"),
		.status = (int)(number_of(object, "exit_status") & 0xff) << 8,
		.root = { pid, pid, number_of(object, "start_time_ns") },
		.cgroup = text_of(object, "cgroup"),
		.cmd = text_of(object, "cmd"),
		.watched = text_of(object, "watched"),
		.uid = (uint32_t)number_of(object, "uid"),
		.steps = number_of(object, "steps"),
		.absent = text_of(object, "absent"),
		.details = text_of(object, "details"),
	};
	const struct job_row row = { &job, job.duration_ns, text_of(object, "step") };

	read_figures(object, &job);
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
			status = give(object, sink, context);
	}
	json_decref(root);
	return status;
}
