/* SPDX-License-Identifier: MIT */
#include "model/snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/collection/dictionary.h"

/* clang-format off */
const struct fact_info facts[FACT_COUNT] = {
#define TEXT true
#define NUMBER false
#define FACT(id, type) [FACT_##id] = { #id, type },
#include "model/snapshot/facts.def"
#undef TEXT
#undef NUMBER
};

static const char *const state_names[SOURCE_STATE_COUNT] = {
	[SOURCE_OK] = "ok",       [SOURCE_PARTIAL] = "partial",     [SOURCE_UNAVAILABLE] = "unavailable",
	[SOURCE_OFF] = "off",     [SOURCE_NOT_BUILT] = "not built", [SOURCE_MISSING] = "missing",
};

static const char *const sheet_names[SHEET_COUNT] = {
	[SHEET_HOST] = "host",       [SHEET_CAPTURE] = "capture",
	[SHEET_CGROUPS] = "cgroups", [SHEET_PROCESSES] = "processes",
	[SHEET_RUN] = "run",         [SHEET_RUN_PROCESSES] = "run.processes",
	[SHEET_RUN_THREADS] = "run.threads", [SHEET_SYSCALLS] = "run.syscalls",
	[SHEET_TOP_WAITS] = "run.top_waits", [SHEET_PHASES] = "run.phases",
	[SHEET_CGROUPS_BEGIN] = "run.cgroups_begin", [SHEET_HOST_BEGIN] = "run.host_begin",
	[SHEET_EVENTS] = "run.events", [SHEET_SAMPLES] = "run.samples",
	[SHEET_PATH] = "run.critical_path", [SHEET_PATH_SEGMENTS] = "run.critical_path_segments",
	[SHEET_DEADLOCK] = "run.deadlock", [SHEET_STACK_FRAMES] = "run.stack_frames",
	[SHEET_STACK_NODES] = "run.stack_nodes", [SHEET_STACK_SAMPLES] = "run.stack_samples",
	[SHEET_SEGMENTS] = "run.segments", [SHEET_GPU_USERS] = "run.gpu_users",
};
/* clang-format on */

const char *source_state_name(enum source_state state)
{
	return state_names[state];
}

enum source_state source_state_find(const char *name)
{
	for (int state = 0; state < SOURCE_STATE_COUNT; state++)
		if (strcmp(state_names[state], name) == 0)
			return (enum source_state)state;
	return SOURCE_UNAVAILABLE;
}

int snapshot_new(struct snapshot **ret)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return -ENOMEM;
	snapshot->strings = dictionary_new();
	if (!snapshot->strings) {
		free(snapshot);
		return -ENOMEM;
	}
	for (int id = 0; id < METRIC_STORED; id++)
		snapshot->columns[id].metric = &metrics[id];
	*ret = snapshot;
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (int id = 0; id < METRIC_STORED; id++)
		column_free(&snapshot->columns[id]);
	free(snapshot->processes);
	free(snapshot->tasks);
	number_map_clear(&snapshot->process_index);
	number_map_clear(&snapshot->process_rows);
	for (int id = 0; id < SHEET_COUNT; id++)
		sheet_clear(&snapshot->sheets[id]);
	dictionary_free(snapshot->strings);
	arena_clear(&snapshot->arena);
	free(snapshot);
}

int snapshot_intern(struct snapshot *snapshot, const char *text, size_t length, uint32_t *ret_id)
{
	return dictionary_add(snapshot->strings, text, length, ret_id);
}

const char *snapshot_text(const struct snapshot *snapshot, uint32_t id)
{
	return dictionary_text(snapshot->strings, id);
}

/* Makes room for rows of a scope; the columns of the scope grow with its rows. */
static int reserve_rows(struct snapshot *snapshot, enum metric_scope scope, void **rows,
			size_t wanted, size_t *capacity, size_t size)
{
	size_t from = *capacity, to = array_grown(from, wanted);

	if (wanted <= from)
		return 0;
	for (int id = 0; id < METRIC_STORED; id++) {
		struct column *column = &snapshot->columns[id];

		if (metrics[id].scope == scope && column->values &&
		    column_grow(column, from, to) < 0)
			return -ENOMEM;
	}
	return array_reserve_bytes(rows, capacity, wanted, size);
}

int snapshot_reserve(struct snapshot *snapshot, size_t tasks)
{
	return reserve_rows(snapshot, METRIC_OF_THREAD, (void **)&snapshot->tasks, tasks,
			    &snapshot->task_capacity, sizeof(struct task));
}

int snapshot_process(struct snapshot *snapshot, int32_t tgid, uint32_t *ret_row)
{
	int64_t found = snapshot_find_process(snapshot, tgid);

	if (found < 0)
		return snapshot_add_process(snapshot, tgid, ret_row);
	*ret_row = (uint32_t)found;
	return 0;
}

int snapshot_add_process(struct snapshot *snapshot, int32_t tgid, uint32_t *ret_row)
{
	size_t row = snapshot->process_count;

	if (reserve_rows(snapshot, METRIC_OF_PROCESS, (void **)&snapshot->processes, row + 1,
			 &snapshot->process_capacity, sizeof(struct process)) < 0)
		return -ENOMEM;
	snapshot->processes[row] = (struct process){ .tgid = tgid };
	if (number_map_set(&snapshot->process_index, tgid, (void *)(row + 1)) < 0)
		return -ENOMEM;
	snapshot->process_count++;
	*ret_row = (uint32_t)row;
	return 0;
}

int64_t snapshot_find_process(const struct snapshot *snapshot, int32_t tgid)
{
	return (int64_t)(uintptr_t)number_map_get(&snapshot->process_index, tgid) - 1;
}

int32_t snapshot_parent(const struct snapshot *snapshot, uint32_t row)
{
	uint64_t parent;

	if (snapshot->processes[row].parent)
		return snapshot->processes[row].parent;
	return snapshot_get(snapshot, METRIC_ppid, row, &parent) ? (int32_t)parent : 0;
}

int snapshot_add_task(struct snapshot *snapshot, const struct task *task, uint32_t *ret_row)
{
	size_t row = snapshot->task_count;

	if (snapshot_reserve(snapshot, row + 1) < 0)
		return -ENOMEM;
	snapshot->tasks[row] = *task;
	snapshot->task_count++;
	*ret_row = (uint32_t)row;
	return 0;
}

int snapshot_need_column(struct snapshot *snapshot, enum metric_id id)
{
	struct column *column = &snapshot->columns[id];
	size_t capacity = metrics[id].scope == METRIC_OF_THREAD ? snapshot->task_capacity :
								  snapshot->process_capacity;

	if (column->values)
		return 0;
	/* Allocate at least one cell, so that the column counts as present. */
	return column_grow(column, 0, capacity ? capacity : 1);
}

size_t snapshot_measured(const struct snapshot *snapshot, enum metric_id id)
{
	return column_measured(&snapshot->columns[id], snapshot_rows(snapshot, id));
}

int snapshot_set_fact_text(struct snapshot *snapshot, enum fact_id id, const char *text)
{
	const char *copy = arena_copy(&snapshot->arena, text, strlen(text));

	if (!copy)
		return -ENOMEM;
	snapshot->facts[id] = (struct fact){ .present = true, .text = copy };
	return 0;
}

void snapshot_set_fact_number(struct snapshot *snapshot, enum fact_id id, uint64_t number)
{
	snapshot->facts[id] = (struct fact){ .present = true, .number = number };
}

int snapshot_set_absent(struct snapshot *snapshot, enum metric_id id, const char *reason)
{
	return column_set_absent(&snapshot->columns[id], &snapshot->arena, reason);
}

struct source_report *snapshot_source(struct snapshot *snapshot, const char *name)
{
	struct source_report *source;

	for (size_t i = 0; i < snapshot->source_count; i++)
		if (strcmp(snapshot->sources[i].name, name) == 0)
			return &snapshot->sources[i];
	if (snapshot->source_count == SNAPSHOT_SOURCES)
		return NULL;
	source = &snapshot->sources[snapshot->source_count];
	source->name = arena_copy(&snapshot->arena, name, strlen(name));
	if (!source->name)
		return NULL;
	snapshot->source_count++;
	return source;
}

const char *sheet_name(enum sheet_id id)
{
	return sheet_names[id];
}

static int note(struct sheet *sheet, const char *name, enum cell_state state, uint64_t value)
{
	uint32_t row;

	if (sheet->row_count == 0 && sheet_add_row(sheet, 0, &row) < 0)
		return -ENOMEM;
	return sheet_set(sheet, 0, name, state, value);
}

int snapshot_note_number(struct snapshot *snapshot, enum sheet_id id, const char *name,
			 uint64_t number)
{
	return note(&snapshot->sheets[id], name, CELL_NUMBER, number);
}

int snapshot_note_text(struct snapshot *snapshot, enum sheet_id id, const char *name,
		       const char *text)
{
	uint32_t string;
	int status = snapshot_intern(snapshot, text, strlen(text), &string);

	return status < 0 ? status : note(&snapshot->sheets[id], name, CELL_TEXT, string);
}

int snapshot_finish_sheets(struct snapshot *snapshot)
{
	int status = 0;

	for (int id = 0; id < SHEET_COUNT && status == 0; id++)
		status = sheet_finish(&snapshot->sheets[id]);
	return status;
}

int snapshot_process_row(struct snapshot *snapshot, uint32_t process, uint32_t *ret_row)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	struct number_map *index = &snapshot->process_rows;
	uintptr_t found;

	/* Rows that were added since the last call. */
	for (size_t row = index->count; row < sheet->row_count; row++)
		if (number_map_set(index, (int32_t)sheet->keys[row], (void *)(row + 1)) < 0)
			return -ENOMEM;
	found = (uintptr_t)number_map_get(index, (int32_t)process);
	if (!found)
		return sheet_add_row(sheet, process, ret_row);
	*ret_row = (uint32_t)found - 1;
	return 0;
}
