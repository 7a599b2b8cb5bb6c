/* SPDX-License-Identifier: MIT */
/* Moves or drops rows of a snapshot, together with their cells and all references to them. */
#include "model/snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* New row numbers for the rows of one scope: new_row[old], or ROW_GONE. */
#define ROW_GONE UINT32_MAX

/* Moves the cells of a scope's columns to their new rows. */
static int move_cells(struct snapshot *snapshot, enum metric_scope scope, const uint32_t *new_row,
		      size_t rows)
{
	CLEANUP(free_pointer) uint64_t *values = malloc(rows * sizeof(*values) + 1);
	CLEANUP(free_pointer) uint8_t *states = malloc(rows + 1);

	if (!values || !states)
		return -ENOMEM;
	for (int id = 0; id < METRIC_STORED; id++) {
		struct column *column = &snapshot->columns[id];

		if (metrics[id].scope != scope || !column->values || rows == 0)
			continue;
		memcpy(values, column->values, rows * sizeof(*values));
		memcpy(states, column->states, rows);
		memset(column->states, 0, rows);
		for (size_t row = 0; row < rows; row++) {
			if (new_row[row] == ROW_GONE)
				continue;
			column->values[new_row[row]] = values[row];
			column->states[new_row[row]] = states[row];
		}
	}
	return 0;
}

/* Updates the keys of sheet rows that refer to rows that moved. */
static void move_keys(struct sheet *sheet, const uint32_t *new_row)
{
	for (size_t row = 0; row < sheet->row_count; row++)
		sheet->keys[row] = new_row[sheet->keys[row]];
}

static int index_processes(struct snapshot *snapshot)
{
	int status = 0;

	number_map_clear(&snapshot->process_index);
	for (size_t row = 0; row < snapshot->process_count && status == 0; row++)
		status = number_map_set(&snapshot->process_index, snapshot->processes[row].tgid,
					(void *)(row + 1));
	return status;
}

/* Moves the rows of a scope, with their cells and what sheets say about them. */
static int move_rows(struct snapshot *snapshot, enum metric_scope scope, const uint32_t *new_row,
		     size_t kept)
{
	bool is_task = scope == METRIC_OF_THREAD;
	char *table = is_task ? (char *)snapshot->tasks : (char *)snapshot->processes;
	size_t size = is_task ? sizeof(struct task) : sizeof(struct process);
	size_t *count = is_task ? &snapshot->task_count : &snapshot->process_count;
	CLEANUP(free_pointer) char *old = malloc(*count * size + 1);
	int status = old ? move_cells(snapshot, scope, new_row, *count) : -ENOMEM;

	if (status < 0)
		return status;
	if (*count)
		memcpy(old, table, *count * size);
	for (size_t row = 0; row < *count; row++)
		if (new_row[row] != ROW_GONE)
			memcpy(table + new_row[row] * size, old + row * size, size);
	move_keys(&snapshot->sheets[is_task ? SHEET_RUN_THREADS : SHEET_RUN_PROCESSES], new_row);
	*count = kept;
	if (is_task)
		return 0;
	for (size_t row = 0; row < snapshot->task_count; row++)
		snapshot->tasks[row].process = new_row[snapshot->tasks[row].process];
	return index_processes(snapshot);
}

/* Numbers the kept rows from 0 in their order; returns how many there are. */
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
	status = move_rows(snapshot, METRIC_OF_THREAD, new_row,
			   number_kept(keep, snapshot->task_count, new_row));
	if (status < 0)
		return status;
	for (size_t row = 0; row < snapshot->task_count; row++)
		used[snapshot->tasks[row].process] = 1;
	return move_rows(snapshot, METRIC_OF_PROCESS, new_row,
			 number_kept(used, snapshot->process_count, new_row));
}

struct order {
	int64_t first;
	uint64_t second;
	uint32_t row;
};

static int compare_order(const void *first, const void *second)
{
	const struct order *a = first, *b = second;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static struct order order_of(const struct snapshot *snapshot, enum metric_scope scope, uint32_t row)
{
	if (scope == METRIC_OF_PROCESS)
		return (struct order){ snapshot->processes[row].tgid,
				       snapshot->processes[row].start_time_ns, row };
	return (struct order){ snapshot->tasks[row].process,
			       (uint64_t)((int64_t)snapshot->tasks[row].tid - INT32_MIN), row };
}

static bool is_sorted(const struct snapshot *snapshot, enum metric_scope scope, size_t rows)
{
	for (uint32_t row = 1; row < rows; row++) {
		struct order previous = order_of(snapshot, scope, row - 1);
		struct order order = order_of(snapshot, scope, row);

		if (compare_order(&previous, &order) > 0)
			return false;
	}
	return true;
}

static int sort_rows(struct snapshot *snapshot, enum metric_scope scope, size_t rows)
{
	CLEANUP(free_pointer) struct order *order = NULL;
	CLEANUP(free_pointer) uint32_t *new_row = NULL;

	if (is_sorted(snapshot, scope, rows))
		return 0;
	order = malloc(rows * sizeof(*order));
	new_row = malloc(rows * sizeof(*new_row));
	if (!order || !new_row)
		return -ENOMEM;
	for (uint32_t row = 0; row < rows; row++)
		order[row] = order_of(snapshot, scope, row);
	qsort(order, rows, sizeof(*order), compare_order);
	for (uint32_t i = 0; i < rows; i++)
		new_row[order[i].row] = i;
	return move_rows(snapshot, scope, new_row, rows);
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
	int status = sort_rows(snapshot, METRIC_OF_PROCESS, snapshot->process_count);

	if (status == 0)
		status = sort_rows(snapshot, METRIC_OF_THREAD, snapshot->task_count);
	if (status == 0)
		find_first_tasks(snapshot);
	return status;
}

bool snapshot_is_finished(const struct snapshot *snapshot)
{
	for (size_t row = 1; row < snapshot->process_count && !snapshot_is_run(snapshot); row++)
		if (snapshot->processes[row - 1].tgid == snapshot->processes[row].tgid)
			return false;
	for (size_t row = 0; row < snapshot->task_count; row++)
		if (snapshot->tasks[row].process >= snapshot->process_count)
			return false;
	return is_sorted(snapshot, METRIC_OF_PROCESS, snapshot->process_count) &&
	       is_sorted(snapshot, METRIC_OF_THREAD, snapshot->task_count);
}
