#include "model/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/dictionary.h"

/* clang-format off */
const struct fact_info facts[FACT_COUNT] = {
#define TEXT true
#define NUMBER false
#define FACT(id, type) [FACT_##id] = { #id, type },
#include "model/facts.def"
#undef TEXT
#undef NUMBER
};

static const char *const state_names[SOURCE_STATE_COUNT] = {
	[SOURCE_OK] = "ok",       [SOURCE_PARTIAL] = "partial",     [SOURCE_UNAVAILABLE] = "unavailable",
	[SOURCE_OFF] = "off",     [SOURCE_NOT_BUILT] = "not built", [SOURCE_MISSING] = "missing",
};
/* clang-format on */

const char *source_state_name(enum source_state state)
{
	return state_names[state];
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
	*ret = snapshot;
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	for (int id = 0; id < METRIC_STORED; id++) {
		free(snapshot->columns[id].values);
		free(snapshot->columns[id].present);
	}
	free(snapshot->processes);
	free(snapshot->tasks);
	free(snapshot->process_index);
	dictionary_free(snapshot->strings);
	arena_clear(&snapshot->arena);
	free(snapshot);
}

void snapshot_free_pointer(struct snapshot **snapshot)
{
	snapshot_free(*snapshot);
}

int snapshot_intern(struct snapshot *snapshot, const char *text, size_t length, uint32_t *ret_id)
{
	return dictionary_add(snapshot->strings, text, length, ret_id);
}

const char *snapshot_text(const struct snapshot *snapshot, uint32_t id)
{
	return dictionary_text(snapshot->strings, id);
}

static size_t index_slot(const struct snapshot *snapshot, int32_t tgid)
{
	size_t mask = snapshot->process_index_size - 1;
	/* The upper half: the lower bits of a product repeat when ids are all multiples of one. */
	size_t slot = ((uint32_t)tgid * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (snapshot->process_index[slot] &&
	       snapshot->processes[snapshot->process_index[slot] - 1].tgid != tgid)
		slot = (slot + 1) & mask;
	return slot;
}

/* Makes the index at least twice as large as the rows it is for, and fills it anew. */
static int index_rebuild(struct snapshot *snapshot, size_t rows)
{
	size_t size = 64;
	uint32_t *index;

	while (size < rows * 2)
		size *= 2;
	index = calloc(size, sizeof(*index));
	if (!index)
		return -ENOMEM;
	free(snapshot->process_index);
	snapshot->process_index = index;
	snapshot->process_index_size = size;
	for (size_t row = 0; row < snapshot->process_count; row++)
		index[index_slot(snapshot, snapshot->processes[row].tgid)] = (uint32_t)row + 1;
	return 0;
}

int64_t snapshot_find_process(const struct snapshot *snapshot, int32_t tgid)
{
	if (snapshot->process_index_size == 0)
		return -1;
	return (int64_t)snapshot->process_index[index_slot(snapshot, tgid)] - 1;
}

static int grow_array(void *data, size_t from, size_t to, size_t size)
{
	char **bytes = data;
	char *moved = realloc(*bytes, to * size);

	if (!moved)
		return -ENOMEM;
	memset(moved + from * size, 0, (to - from) * size);
	*bytes = moved;
	return 0;
}

/* Columns of a scope grow with the rows of that scope. */
static int grow_columns(struct snapshot *snapshot, enum metric_scope scope, size_t from, size_t to)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		struct column *column = &snapshot->columns[id];

		if (metrics[id].scope != scope || !column->values)
			continue;
		if (grow_array(&column->values, from, to, sizeof(*column->values)) < 0 ||
		    grow_array(&column->present, from, to, sizeof(*column->present)) < 0)
			return -ENOMEM;
	}
	return 0;
}

int snapshot_process(struct snapshot *snapshot, int32_t tgid, uint32_t *ret_row)
{
	int64_t found = snapshot_find_process(snapshot, tgid);
	size_t row = snapshot->process_count;

	if (found >= 0) {
		*ret_row = (uint32_t)found;
		return 0;
	}
	if (row == snapshot->process_capacity) {
		size_t grown = array_grown(snapshot->process_capacity, row + 1);

		if (grow_columns(snapshot, SCOPE_PROCESS, row, grown) < 0 ||
		    grow_array(&snapshot->processes, row, grown, sizeof(struct process)) < 0)
			return -ENOMEM;
		snapshot->process_capacity = grown;
	}
	if (2 * (row + 1) > snapshot->process_index_size && index_rebuild(snapshot, row + 1) < 0)
		return -ENOMEM;
	snapshot->process_index[index_slot(snapshot, tgid)] = (uint32_t)row + 1;
	snapshot->processes[row] = (struct process){ .tgid = tgid };
	snapshot->process_count++;
	*ret_row = (uint32_t)row;
	return 0;
}

int snapshot_add_task(struct snapshot *snapshot, const struct task *task, uint32_t *ret_row)
{
	size_t row = snapshot->task_count;

	if (row == snapshot->task_capacity) {
		size_t grown = array_grown(snapshot->task_capacity, row + 1);

		if (grow_columns(snapshot, SCOPE_THREAD, row, grown) < 0 ||
		    grow_array(&snapshot->tasks, row, grown, sizeof(struct task)) < 0)
			return -ENOMEM;
		snapshot->task_capacity = grown;
	}
	snapshot->tasks[row] = *task;
	snapshot->task_count++;
	*ret_row = (uint32_t)row;
	return 0;
}

int snapshot_need_column(struct snapshot *snapshot, enum metric_id id)
{
	struct column *column = &snapshot->columns[id];
	size_t capacity = metrics[id].scope == SCOPE_THREAD ? snapshot->task_capacity :
							      snapshot->process_capacity;

	if (column->values)
		return 0;
	if (capacity == 0)
		capacity = 1; /* so that the column counts as there */
	column->present = calloc(capacity, sizeof(*column->present));
	column->values = calloc(capacity, sizeof(*column->values));
	if (column->present && column->values)
		return 0;
	free(column->present);
	free(column->values);
	*column = (struct column){ 0 };
	return -ENOMEM;
}

size_t snapshot_measured(const struct snapshot *snapshot, enum metric_id id)
{
	const uint8_t *present = snapshot->columns[id].present;
	size_t measured = 0;

	for (size_t row = 0; present && row < snapshot_rows(snapshot, id); row++)
		measured += present[row];
	return measured;
}

void snapshot_set_fact_text(struct snapshot *snapshot, enum fact_id id, const char *text)
{
	const char *copy = arena_copy(&snapshot->arena, text, strlen(text));

	if (copy)
		snapshot->facts[id] = (struct fact){ .present = true, .text = copy };
}

void snapshot_set_fact_number(struct snapshot *snapshot, enum fact_id id, uint64_t number)
{
	snapshot->facts[id] = (struct fact){ .present = true, .number = number };
}

int snapshot_set_absent(struct snapshot *snapshot, enum metric_id id, const char *reason)
{
	if (!snapshot->absent[id])
		snapshot->absent[id] = arena_copy(&snapshot->arena, reason, strlen(reason));
	return snapshot->absent[id] ? 0 : -ENOMEM;
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

/* New row numbers for the rows of one scope: new_row[old], or ROW_GONE. */
#define ROW_GONE UINT32_MAX

/* Moves the cells of a scope's columns to their new rows. */
static int move_cells(struct snapshot *snapshot, enum metric_scope scope, const uint32_t *new_row,
		      size_t rows)
{
	CLEANUP(free_pointer) uint64_t *values = malloc(rows * sizeof(*values) + 1);
	CLEANUP(free_pointer) uint8_t *present = malloc(rows + 1);

	if (!values || !present)
		return -ENOMEM;
	for (int id = 0; id < METRIC_STORED; id++) {
		struct column *column = &snapshot->columns[id];

		if (metrics[id].scope != scope || !column->values || rows == 0)
			continue;
		memcpy(values, column->values, rows * sizeof(*values));
		memcpy(present, column->present, rows);
		memset(column->present, 0, rows);
		for (size_t row = 0; row < rows; row++) {
			if (new_row[row] == ROW_GONE)
				continue;
			column->values[new_row[row]] = values[row];
			column->present[new_row[row]] = present[row];
		}
	}
	return 0;
}

static int move_tasks(struct snapshot *snapshot, const uint32_t *new_row, size_t kept)
{
	size_t rows = snapshot->task_count;
	CLEANUP(free_pointer) struct task *old = malloc(rows * sizeof(*old) + 1);
	int status;

	if (!old)
		return -ENOMEM;
	status = move_cells(snapshot, SCOPE_THREAD, new_row, rows);
	if (status < 0)
		return status;
	if (rows)
		memcpy(old, snapshot->tasks, rows * sizeof(*old));
	for (size_t row = 0; row < rows; row++)
		if (new_row[row] != ROW_GONE)
			snapshot->tasks[new_row[row]] = old[row];
	snapshot->task_count = kept;
	return 0;
}

static int move_processes(struct snapshot *snapshot, const uint32_t *new_row, size_t kept)
{
	size_t rows = snapshot->process_count;
	CLEANUP(free_pointer) struct process *old = malloc(rows * sizeof(*old) + 1);
	int status;

	if (!old)
		return -ENOMEM;
	status = move_cells(snapshot, SCOPE_PROCESS, new_row, rows);
	if (status < 0)
		return status;
	if (rows)
		memcpy(old, snapshot->processes, rows * sizeof(*old));
	for (size_t row = 0; row < rows; row++)
		if (new_row[row] != ROW_GONE)
			snapshot->processes[new_row[row]] = old[row];
	for (size_t row = 0; row < snapshot->task_count; row++)
		snapshot->tasks[row].process = new_row[snapshot->tasks[row].process];
	snapshot->process_count = kept;
	return index_rebuild(snapshot, kept);
}

/* Numbers the kept rows from 0 in their order; gives how many there are. */
static size_t number_kept(const uint8_t *keep, size_t rows, uint32_t *new_row)
{
	uint32_t kept = 0;

	for (size_t row = 0; row < rows; row++)
		new_row[row] = keep[row] ? kept++ : ROW_GONE;
	return kept;
}

int snapshot_keep(struct snapshot *snapshot, const uint8_t *keep)
{
	size_t rows = snapshot->task_count > snapshot->process_count ? snapshot->task_count :
								       snapshot->process_count;
	CLEANUP(free_pointer) uint32_t *new_row = malloc(rows * sizeof(*new_row) + 1);
	CLEANUP(free_pointer) uint8_t *used = calloc(snapshot->process_count + 1, 1);
	int status;

	if (!new_row || !used)
		return -ENOMEM;
	status = move_tasks(snapshot, new_row, number_kept(keep, snapshot->task_count, new_row));
	if (status < 0)
		return status;
	for (size_t row = 0; row < snapshot->task_count; row++)
		used[snapshot->tasks[row].process] = 1;
	return move_processes(snapshot, new_row,
			      number_kept(used, snapshot->process_count, new_row));
}

struct order {
	int32_t tgid, tid;
	uint32_t row;
};

static int compare_order(const void *first, const void *second)
{
	const struct order *a = first, *b = second;

	if (a->tgid != b->tgid)
		return a->tgid < b->tgid ? -1 : 1;
	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* Sorts the order if need be and turns it into new rows; false when all is in place already. */
static bool sort_rows(struct order *order, size_t rows, uint32_t *new_row)
{
	bool sorted = true;

	for (size_t i = 1; i < rows && sorted; i++)
		sorted = compare_order(&order[i - 1], &order[i]) <= 0;
	if (sorted)
		return false;
	qsort(order, rows, sizeof(*order), compare_order);
	for (size_t i = 0; i < rows; i++)
		new_row[order[i].row] = (uint32_t)i;
	return true;
}

static void find_first_tasks(struct snapshot *snapshot)
{
	for (size_t row = 0; row < snapshot->task_count; row++) {
		const struct task *task = &snapshot->tasks[row];
		struct process *process = &snapshot->processes[task->process];

		if (row == 0 || task[-1].process != task->process || task->tid == process->tgid)
			process->first_task = (uint32_t)row;
	}
}

int snapshot_finish(struct snapshot *snapshot)
{
	size_t rows = snapshot->task_count > snapshot->process_count ? snapshot->task_count :
								       snapshot->process_count;
	CLEANUP(free_pointer) struct order *order = malloc(rows * sizeof(*order) + 1);
	CLEANUP(free_pointer) uint32_t *new_row = malloc(rows * sizeof(*new_row) + 1);
	int status = 0;

	if (!order || !new_row)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->process_count; row++)
		order[row] = (struct order){ snapshot->processes[row].tgid, 0, row };
	if (sort_rows(order, snapshot->process_count, new_row))
		status = move_processes(snapshot, new_row, snapshot->process_count);
	if (status < 0)
		return status;
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		const struct task *task = &snapshot->tasks[row];

		order[row] =
			(struct order){ snapshot->processes[task->process].tgid, task->tid, row };
	}
	if (sort_rows(order, snapshot->task_count, new_row))
		status = move_tasks(snapshot, new_row, snapshot->task_count);
	if (status < 0)
		return status;
	find_first_tasks(snapshot);
	return 0;
}
