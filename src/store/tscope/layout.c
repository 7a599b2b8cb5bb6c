/* SPDX-License-Identifier: MIT */
#include "store/tscope/layout.h"

#include <string.h>

#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "store/tscope/decoder.h"

#define PROCESS(name, type, member)                                                                \
	{                                                                                          \
		name, METRIC_OF_PROCESS, FIELD_##type, offsetof(struct process, member)            \
	}
#define TASK(name, type, member)                                                                   \
	{                                                                                          \
		name, METRIC_OF_THREAD, FIELD_##type, offsetof(struct task, member)                \
	}

/* clang-format off */
const struct block blocks[] = {
	{ BLOCK_VALUES,  "host",    encode_facts,   decode_facts },
	{ BLOCK_STRINGS, "strings", encode_strings, decode_strings },
	{ BLOCK_ROWS,    NULL,      encode_rows,    decode_rows },
	{ BLOCK_FIELD,   NULL,      encode_fields,  decode_field },
	{ BLOCK_COLUMN,  NULL,      encode_columns, decode_column },
	{ BLOCK_REASONS, "absent",  encode_reasons, decode_reasons },
	{ BLOCK_SOURCES, "sources", encode_sources, decode_sources },
	{ BLOCK_VALUES,  "tally",   encode_tally,   decode_tally },
	{ BLOCK_SHEET,   NULL,      encode_sheets,  decode_sheet },
};

const struct row_table row_tables[] = {
	{ PROCESS("processes", ID, tgid), CELLS_PER_PROCESS },
	{ TASK("tasks", ID, tid), CELLS_PER_TASK },
};

const struct field fields[] = {
	PROCESS("process.start_time_ns", TIME,   start_time_ns),
	PROCESS("process.pcomm",         STRING, pcomm),
	PROCESS("process.cmdline",       STRING, cmdline),
	PROCESS("process.exe",           STRING, exe),
	PROCESS("process.user",          STRING, user),
	PROCESS("process.parent",        ID,     parent),
	TASK("task.process",             PROCESS, process),
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

const enum field_type sheet_keys[SHEET_COUNT] = {
	[SHEET_CGROUPS] = FIELD_STRING,	       [SHEET_SYSCALLS] = FIELD_STRING,
	[SHEET_CGROUPS_BEGIN] = FIELD_STRING,  [SHEET_PROCESSES] = FIELD_PROCESS,
	[SHEET_RUN_PROCESSES] = FIELD_PROCESS, [SHEET_RUN_THREADS] = FIELD_TASK,
};

const size_t block_count = ARRAY_SIZE(blocks);
const size_t row_table_count = ARRAY_SIZE(row_tables);
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
	uint32_t number;
	uint64_t time;

	if (field->type == FIELD_TIME) {
		memcpy(&time, place, sizeof(time));
		return time;
	}
	memcpy(&number, place, sizeof(number));
	return field->type == FIELD_ID ? (uint64_t)(int32_t)number : number;
}

bool field_fits(const struct snapshot *snapshot, enum field_type type, uint64_t value)
{
	switch (type) {
	case FIELD_NONE:
		return value == 0;
	case FIELD_ID:
		return (uint64_t)(int64_t)(int32_t)value == value;
	case FIELD_TIME:
		return true;
	case FIELD_STRING:
		return value < dictionary_count(snapshot->strings);
	case FIELD_PROCESS:
		return value < snapshot->process_count;
	case FIELD_TASK:
		return value < snapshot->task_count;
	}
	return false;
}

bool field_set(struct snapshot *snapshot, const struct field *field, size_t row, uint64_t value)
{
	char *place = field_place(snapshot, field, row);
	uint32_t number = (uint32_t)value;

	if (!field_fits(snapshot, field->type, value))
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
