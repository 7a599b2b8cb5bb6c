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
			job_set_read(figures, (enum job_value)i, json_number_value(number));
	}
	for (int i = 0; memory && i < JOB_MEMORY_COUNT; i++)
		if (strcmp(memory, job_memory_names[i]) == 0)
			*ret_memory = (enum job_memory)i;
}

int job_json_give(const json_t *object, job_row_sink *sink, void *context)
{
	const char *name = job_json_text(object, "name");
	int32_t pid = (int32_t)job_json_number(object, "pid");
	uint64_t signal = job_json_number(object, "exit_signal");
	struct job job = {
		.id = job_json_number(object, "id"),
		.name = name ? name : "?",
		.begin_unix_ns = job_json_number(object, "begin_ns"),
		.end_unix_ns = job_json_number(object, "end_ns"),
		.duration_ns = job_json_number(object, "duration_ns"),
		.boot_id = job_json_text(object, "boot_id"),
		.outcome = job_json_outcome(object),
		.has_status = json_object_get(object, "exit_status"),
		.status = signal ? (int)(signal & 0x7f) :
				   (int)(job_json_number(object, "exit_status") & 0xff) << 8,
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

static int give_hotspot(const json_t *object, const struct job_list_sinks *sinks)
{
	const char *name = job_json_text(object, "name");
	const struct job_hotspot hotspot = {
		.job = job_json_number(object, "job"),
		.name = name ? name : "?",
		.time_ns = job_json_number(object, "time_ns"),
		.all_ns = json_number_value(json_object_get(object, "all_ns")),
	};

	return sinks->hotspot(sinks->context, &hotspot);
}

static int give_all(const json_t *root, const struct job_list_sinks *sinks,
		    struct job_list_page *ret)
{
	const json_t *jobs = json_object_get(root, "jobs");
	const json_t *hotspots = sinks->hotspot ? json_object_get(root, "hotspots") : NULL;
	int status = json_is_array(jobs) ? 0 : -EBADMSG;

	ret->count = json_array_size(jobs);
	ret->last_id = ret->count ? job_json_number(json_array_get(jobs, ret->count - 1), "id") : 0;
	for (size_t i = 0; i < ret->count && status == 0; i++)
		status = job_json_give(json_array_get(jobs, i), sinks->job, sinks->context);
	for (size_t i = 0; i < json_array_size(hotspots) && status == 0; i++)
		status = give_hotspot(json_array_get(hotspots, i), sinks);
	return status;
}

int job_list_read(const char *document, size_t length, const struct job_list_sinks *sinks,
		  struct job_list_page *ret, struct error *error)
{
	json_t *root = NULL;
	json_error_t why;
	int status = json_parse(document, length, 0, &root, &why);

	*ret = (struct job_list_page){ 0 };
	if (status == 0)
		status = give_all(root, sinks, ret);
	json_decref(root);
	return status == -EBADMSG ? error_set(error, status, "the recorder answered nonsense") :
				    status;
}
