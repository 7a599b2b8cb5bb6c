/* SPDX-License-Identifier: MIT */
#include "store/tscope/layout.h"

#include <string.h>

#include "base/array.h"
#include "base/dictionary.h"
#include "model/snapshot/snapshot.h"

#define PROCESS(name, type, member)                                                                \
	{                                                                                          \
		name, METRIC_OF_PROCESS, FIELD_##type, offsetof(struct process, member)            \
	}
#define TASK(name, type, member)                                                                   \
	{                                                                                          \
		name, METRIC_OF_THREAD, FIELD_##type, offsetof(struct task, member)                \
	}

/* clang-format off */
const struct field id_fields[] = {
	[METRIC_OF_PROCESS] = PROCESS(BLOCK_PROCESSES, ID, tgid),
	[METRIC_OF_THREAD] = TASK(BLOCK_TASKS, ID, tid),
};

const struct field fields[] = {
	PROCESS("process.start_time_ns", TIME,   start_time_ns),
	PROCESS("process.pcomm",         STRING, pcomm),
	PROCESS("process.cmdline",       STRING, cmdline),
	PROCESS("process.exe",           STRING, exe),
	PROCESS("process.user",          STRING, user),
	PROCESS("process.parent",        ID,     parent),
	TASK("task.process",             ROW,    process),
	TASK("task.start_time_ns",       TIME,   start_time_ns),
	TASK("task.comm",                STRING, comm),
	TASK("task.cgroup",              STRING, cgroup),
	TASK("task.scope",               STRING, scope),
};

#define TALLY(member) { #member, offsetof(struct capture_tally, member) }
const struct tally_member tally_members[] = {
	TALLY(tids_walked),
	TALLY(vanished),
	TALLY(negative_dotted_values),
	TALLY(discarded_values),
	TALLY(processes_ended),
	TALLY(gap_filled),
};
/* clang-format on */

const size_t field_count = ARRAY_SIZE(fields);
const size_t tally_member_count = ARRAY_SIZE(tally_members);

_Static_assert(sizeof(struct capture_tally) == sizeof(uint64_t) * ARRAY_SIZE(tally_members),
	       "every member of the tally is stored");

static char *field_place(const struct snapshot *snapshot, const struct field *field, size_t row)
{
	if (field->scope == METRIC_OF_PROCESS)
		return (char *)&snapshot->processes[row] + field->offset;
	return (char *)&snapshot->tasks[row] + field->offset;
}

uint64_t field_get(const struct snapshot *snapshot, const struct field *field, size_t row)
{
	const char *place = field_place(snapshot, field, row);
	uint64_t time;
	int32_t id;
	uint32_t number;

	switch (field->type) {
	case FIELD_ID:
		memcpy(&id, place, sizeof(id));
		return (uint64_t)(int64_t)id;
	case FIELD_TIME:
		memcpy(&time, place, sizeof(time));
		return time;
	case FIELD_STRING:
	case FIELD_ROW:
		break;
	}
	memcpy(&number, place, sizeof(number));
	return number;
}

static bool fits(const struct snapshot *snapshot, enum field_type type, uint64_t value)
{
	switch (type) {
	case FIELD_ID:
		return (uint64_t)(int64_t)(int32_t)value == value;
	case FIELD_TIME:
		return true;
	case FIELD_STRING:
		return value < dictionary_count(snapshot->strings);
	case FIELD_ROW:
		return value < snapshot->process_count;
	}
	return false;
}

bool field_set(struct snapshot *snapshot, const struct field *field, size_t row, uint64_t value)
{
	char *place = field_place(snapshot, field, row);
	uint32_t number = (uint32_t)value;

	if (!fits(snapshot, field->type, value))
		return false;
	if (field->type == FIELD_TIME)
		memcpy(place, &value, sizeof(value));
	else
		memcpy(place, &number, sizeof(number));
	return true;
}

size_t scope_rows(const struct snapshot *snapshot, enum metric_scope scope)
{
	return scope == METRIC_OF_PROCESS ? snapshot->process_count : snapshot->task_count;
}

static bool in_order(const struct task *first, const struct task *second)
{
	return first->process < second->process ||
	       (first->process == second->process && first->tid <= second->tid);
}

/* In a run, several processes may have had the same pid, one after the other. */
static bool processes_in_order(const struct process *first, const struct process *second,
			       bool is_run)
{
	return first->tgid < second->tgid || (is_run && first->tgid == second->tgid &&
					      first->start_time_ns <= second->start_time_ns);
}

bool rows_are_finished(const struct snapshot *snapshot)
{
	for (size_t row = 1; row < snapshot->process_count; row++)
		if (!processes_in_order(&snapshot->processes[row - 1], &snapshot->processes[row],
					snapshot_is_run(snapshot)))
			return false;
	for (size_t row = 0; row < snapshot->task_count; row++) {
		const struct task *task = &snapshot->tasks[row];

		if (task->process >= snapshot->process_count ||
		    (row > 0 && !in_order(task - 1, task)))
			return false;
	}
	return true;
}
