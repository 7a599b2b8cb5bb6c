/* SPDX-License-Identifier: MIT */
/* Reads marks and what became of them; both come from another process. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "record/job/mark/job_mark.h"
#include "record/socket/server_request.h"
#include "store/json_parse.h"

static uint64_t read_count(const json_t *object, const char *key)
{
	json_int_t number = json_integer_value(json_object_get(object, key));

	return number > 0 ? (uint64_t)number : 0;
}

/* A figure that is not as it must be is left out. */
static void read_measured(const struct server_request *request, struct job_measured *ret)
{
	const json_t *figures = server_request_parameter(request, "figures");
	const json_t *syscalls = server_request_parameter(request, "syscalls"), *item;
	const char *memory = server_request_text(request, "memory");
	size_t i;

	for (int value = 0; value < JOB_VALUE_COUNT; value++) {
		const json_t *number = json_object_get(figures, job_values[value].name);

		if (json_is_number(number))
			job_set_read(&ret->figures, (enum job_value)value,
				     json_number_value(number));
	}
	for (int kind = 0; memory && kind < JOB_MEMORY_COUNT; kind++)
		if (strcmp(memory, job_memory_names[kind]) == 0)
			ret->memory = (enum job_memory)kind;
	ret->details = server_request_text(request, "details");
	if (server_request_number(request, "duration_ns") > 0)
		ret->duration_ns = (uint64_t)server_request_number(request, "duration_ns");
	if (server_request_number(request, "run_bytes") > 0)
		ret->run_size = (size_t)server_request_number(request, "run_bytes");
	json_array_foreach(syscalls, i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));

		if (ret->syscall_count == JOB_SYSCALLS_MOST || !name ||
		    strlen(name) >= JOB_NAME_SIZE || !job_name_is_printable(name))
			continue;
		ret->syscalls[ret->syscall_count++] = (struct job_syscall){
			.name = name,
			.calls = read_count(item, "calls"),
			.errors = read_count(item, "errors"),
			.time_ns = read_count(item, "time_ns"),
		};
	}
}

int job_mark_read(const struct server_request *request, enum job_mark_kind kind,
		  struct job_mark *ret, struct error *error)
{
	const char *outcome = server_request_text(request, "outcome");
	int64_t start = server_request_number(request, "start_time_ns");
	int64_t steps = server_request_number(request, "steps");
	int64_t status_word = server_request_number(request, "status");
	int found = outcome ? job_outcome_find(outcome) : -1;
	int status;

	*ret = (struct job_mark){
		.kind = kind,
		.name = server_request_text(request, "name"),
		.step = server_request_text(request, "step"),
		.cgroup = server_request_text(request, "cgroup"),
		.cmd = server_request_text(request, "cmd"),
		.watched = server_request_text(request, "watch"),
		.root.start_ns = start > 0 ? (uint64_t)start : 0,
		.watches = json_is_true(server_request_parameter(request, "watches")),
		.takes_children = json_is_true(server_request_parameter(request, "takes_children")),
		.steps = steps > 0 ? (uint64_t)steps : 0,
		.outcome = found > 0 ? (enum job_outcome)found : JOB_RUNNING,
		.has_status = json_is_integer(server_request_parameter(request, "status")) &&
			      status_word >= 0 && status_word <= UINT16_MAX,
		.status = (int)status_word,
		.is_measured = server_request_parameter(request, "figures"),
	};
	status = server_request_pid(request, &ret->root.pid, error);
	ret->root.tid = ret->root.pid;
	if (status == 0 && ret->is_measured)
		read_measured(request, &ret->measured);
	return status < 0 ? status : job_mark_check(ret, error);
}

int job_marked_read(const char *line, size_t length, struct job_marked *ret,
		    char ret_store[PATH_MAX], struct error *error)
{
	json_t *reply = NULL;
	json_error_t why;
	const char *step, *store;
	int status = json_parse(line, length, 0, &reply, &why);

	if (status < 0)
		return error_set(error, status, "the recorder answered nonsense");
	ret->job = read_count(reply, "job");
	step = json_string_value(json_object_get(reply, "step"));
	store = json_string_value(json_object_get(reply, "store"));
	snprintf(ret->step, sizeof(ret->step), "%s", step ? step : "");
	snprintf(ret_store, PATH_MAX, "%s", store ? store : "");
	json_decref(reply);
	return 0;
}
