/* SPDX-License-Identifier: MIT */
#include "record/job/mark/job_mark.h"

#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

const char *const job_mark_methods[JOB_MARK_KIND_COUNT] = { "job_start", "job_step", "job_end" };

bool job_name_is_printable(const char *text)
{
	size_t length = strlen(text), at = 0, bytes = 1;

	while (at < length && bytes) {
		bytes = text_printable(text + at, length - at);
		at += bytes;
	}
	return at == length && length > 0;
}

static int check_name(const char *what, const char *name, struct error *error)
{
	if (!name || !name[0])
		return error_set(error, -EINVAL, "give %s a name", what);
	if (strlen(name) >= JOB_NAME_SIZE)
		return error_set(error, -EINVAL, "the name of %s has at most %d bytes", what,
				 JOB_NAME_SIZE - 1);
	return job_name_is_printable(name) ?
		       0 :
		       error_set(error, -EINVAL,
				 "the name of %s has characters that cannot be shown", what);
}

static int check_new_name(const char *name, struct error *error)
{
	if (name[0] == '#' || strchr(name, '/'))
		return error_set(error, -EINVAL,
				 "the name of a job has no '/' and does not begin with '#': '%s'",
				 name);
	return 0;
}

int job_mark_check(const struct job_mark *mark, struct error *error)
{
	const char *const texts[] = { mark->cgroup, mark->cmd, mark->watched,
				      mark->measured.details };
	int status = check_name("a job", mark->name, error);

	if (status == 0 && mark->kind == JOB_MARK_START)
		status = check_new_name(mark->name, error);
	if (status == 0 && mark->step)
		status = check_name("a step", mark->step, error);
	for (size_t i = 0; i < ARRAY_SIZE(texts) && status == 0; i++)
		if (texts[i] && strlen(texts[i]) > JOB_TEXT_BYTES)
			status = error_set(error, -EINVAL, "a text of a job has at most %d bytes",
					   JOB_TEXT_BYTES);
	if (status == 0 && mark->watched && mark->watched[0] != '/')
		status = error_set(error, -EINVAL, "the watched directory is no absolute path");
	if (status == 0 && mark->kind == JOB_MARK_END && mark->outcome == JOB_RUNNING)
		status = error_set(error, -EINVAL, "give the outcome: success, failure or unknown");
	return status;
}

static void write_measured(struct json *json, const struct job_measured *measured)
{
	json_member_object(json, "figures");
	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		if (job_has(&measured->figures, (enum job_value)i))
			json_member_double(json, job_values[i].name, measured->figures.values[i]);
	json_end_object(json);
	json_member_string(json, "memory", job_memory_names[measured->memory]);
	json_member_nonzero(json, "duration_ns", measured->duration_ns);
	json_member_given(json, "details", measured->details);
	if (measured->run)
		json_member_u64(json, "run_bytes", measured->run_size);
	json_member_array(json, "syscalls");
	for (size_t i = 0; i < measured->syscall_count; i++) {
		const struct job_syscall *syscall = &measured->syscalls[i];

		json_begin_object(json);
		json_member_string(json, "name", syscall->name);
		json_member_u64(json, "calls", syscall->calls);
		json_member_u64(json, "errors", syscall->errors);
		json_member_u64(json, "time_ns", syscall->time_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

void job_mark_write(struct json *json, const struct job_mark *mark)
{
	const struct {
		const char *key, *text;
	} texts[] = { { "name", mark->name },
		      { "step", mark->step },
		      { "cgroup", mark->cgroup },
		      { "cmd", mark->cmd },
		      { "watch", mark->watched } };

	json_begin_object(json);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].text)
			json_member_string(json, texts[i].key, texts[i].text);
	if (mark->root.pid) {
		json_member_i64(json, "pid", mark->root.pid);
		json_member_u64(json, "start_time_ns", mark->root.start_ns);
	}
	json_member_flag(json, "watches", mark->watches);
	json_member_flag(json, "takes_children", mark->takes_children);
	json_member_nonzero(json, "steps", mark->steps);
	if (mark->kind == JOB_MARK_END)
		json_member_string(json, "outcome", job_outcome_names[mark->outcome]);
	if (mark->has_status)
		json_member_i64(json, "status", mark->status);
	if (mark->is_measured)
		write_measured(json, &mark->measured);
	json_end_object(json);
}
