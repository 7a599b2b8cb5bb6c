/* SPDX-License-Identifier: MIT */
#include "analyze/group/axis.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/group/container.h"
#include "base/collection/dictionary.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

static const struct process *process_of(const struct snapshot *snapshot, uint32_t task)
{
	return &snapshot->processes[snapshot->tasks[task].process];
}

static size_t string_count(const struct snapshot *snapshot)
{
	return dictionary_count(snapshot->strings);
}

static size_t process_count(const struct snapshot *snapshot)
{
	return snapshot->process_count;
}

static size_t task_count(const struct snapshot *snapshot)
{
	return snapshot->task_count;
}

static uint32_t pcomm_identity(const struct snapshot *snapshot, uint32_t task)
{
	return process_of(snapshot, task)->pcomm;
}

static uint32_t comm_identity(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].comm;
}

static uint32_t cgroup_identity(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].cgroup;
}

static uint32_t scope_identity(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].scope;
}

static uint32_t process_identity(const struct snapshot *snapshot, uint32_t task)
{
	return snapshot->tasks[task].process;
}

static uint32_t task_identity(const struct snapshot *snapshot, uint32_t task)
{
	(void)snapshot;
	return task;
}

static void append_container(const struct snapshot *snapshot, uint32_t task, struct text *out)
{
	container_append_name(snapshot_text(snapshot, cgroup_identity(snapshot, task)), out);
}

/* There are as many as threads, so it is not left to printf(). */
static void append_positive(int32_t number, struct text *out)
{
	char digits[16];
	char *at = digits + sizeof(digits);

	*--at = ']';
	for (; number; number /= 10)
		*--at = (char)('0' + number % 10);
	*--at = '[';
	text_append(out, at, (size_t)(digits + sizeof(digits) - at));
}

/* Appends the task's number; for a row of a run that stands for several tasks, how many. */
static void append_number(const struct snapshot *snapshot, int32_t number, enum metric_id count,
			  uint32_t row, const char *one, const char *many, struct text *out)
{
	uint64_t several = 0;

	if (number > 0)
		append_positive(number, out);
	else if (number)
		text_format(out, "[%" PRId32 "]", number);
	else if (snapshot_get(snapshot, count, row, &several))
		text_format(out, "[%" PRIu64 " %s]", several, several == 1 ? one : many);
}

static void append_process(const struct snapshot *snapshot, uint32_t task, struct text *out)
{
	text_append_string(out, snapshot_text(snapshot, pcomm_identity(snapshot, task)));
	append_number(snapshot, process_of(snapshot, task)->tgid, METRIC_process_count,
		      snapshot->tasks[task].process, "process", "processes", out);
}

static void append_thread(const struct snapshot *snapshot, uint32_t task, struct text *out)
{
	text_append_string(out, snapshot_text(snapshot, comm_identity(snapshot, task)));
	append_number(snapshot, snapshot->tasks[task].tid, METRIC_thread_count, task, "thread",
		      "threads", out);
}

static void append_user(const struct snapshot *snapshot, uint32_t task, struct text *out)
{
	uint32_t process = snapshot->tasks[task].process;
	uint32_t user = snapshot->processes[process].user;
	uint64_t uid;

	if (user)
		text_append_string(out, snapshot_text(snapshot, user));
	else if (snapshot_get(snapshot, METRIC_uid, process, &uid))
		text_format(out, "uid %" PRIu64, uid);
}

/* clang-format off */
static const struct axis_part
	pcomm_pattern =  { NAME_PATTERN, pcomm_identity,   string_count,  NULL, false },
	comm_pattern =   { NAME_PATTERN, comm_identity,    string_count,  NULL, false },
	comm_itself =    { NAME_LITERAL, comm_identity,    string_count,  NULL, false },
	cgroup_path =    { NAME_PATH,    cgroup_identity,  string_count,  NULL, false },
	process_itself = { NAME_LITERAL, process_identity, process_count, append_process, true },
	thread_itself =  { NAME_LITERAL, task_identity,    task_count,    append_thread, true },
	user_itself =    { NAME_LITERAL, process_identity, process_count, append_user, false },
	scope_itself =   { NAME_LITERAL, scope_identity,   string_count,  NULL, false },
	container_name = { NAME_LITERAL, cgroup_identity,  string_count,  append_container, false };

const struct axis axes[AXIS_COUNT] = {
	[AXIS_PCOMM] =      { "pcomm",      { &pcomm_pattern } },
	[AXIS_COMM] =       { "comm",       { &comm_pattern } },
	[AXIS_COMM_EXACT] = { "comm-exact", { &comm_itself } },
	[AXIS_CGROUP] =     { "cgroup",     { &cgroup_path } },
	[AXIS_PROCESS] =    { "process",    { &process_itself } },
	[AXIS_THREAD] =     { "thread",     { &thread_itself } },
	[AXIS_USER] =       { "user",       { &user_itself } },
	[AXIS_SCOPE] =      { "scope",      { &scope_itself } },
	[AXIS_CONTAINER] =  { "container",  { &container_name } },
	[AXIS_ALL] =        { "all",        { &cgroup_path, &pcomm_pattern, &comm_pattern } },
};
/* clang-format on */

const char *group_axis_name(enum group_axis axis)
{
	return axes[axis].name;
}

int group_axis_find(const char *name)
{
	for (int axis = 0; axis < AXIS_COUNT; axis++)
		if (strcmp(axes[axis].name, name) == 0)
			return axis;
	return -1;
}
