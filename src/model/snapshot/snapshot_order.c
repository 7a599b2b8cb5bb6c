/* SPDX-License-Identifier: MIT */
/* Moves or drops rows of a snapshot, together with their cells and all references to them. */
#include "model/snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* The rows of one scope that are kept, in their new order. */
struct row_order {
	uint32_t *rows;
	size_t count;
};

static void row_order_clear(struct row_order *order)
{
	free(order->rows);
}

static int row_order_init(struct row_order *order, size_t rows)
{
	order->rows = malloc(rows * sizeof(*order->rows) + 1);
	return order->rows ? 0 : -ENOMEM;
}

/* Most metrics are known of all rows. */
static bool states_are_equal(const struct column *column, size_t rows)
{
	return rows && memcmp(column->states, column->states + 1, rows - 1) == 0;
}

static void gather_values(const struct row_order *order, const struct column *from, size_t rows,
			  struct column *to)
{
	for (size_t i = 0; i < order->count; i++)
		to->values[i] = from->values[order->rows[i]];
	if (states_are_equal(from, rows))
		memset(to->states, from->states[0], order->count);
	else
		for (size_t i = 0; i < order->count; i++)
			to->states[i] = from->states[order->rows[i]];
}

/* Gives each column the arrays that the column before it had. */
static int move_cells(struct snapshot *snapshot, enum metric_scope scope,
		      const struct row_order *order)
{
	bool is_task = scope == METRIC_OF_THREAD;
	size_t rows = is_task ? snapshot->task_count : snapshot->process_count;
	size_t capacity = is_task ? snapshot->task_capacity : snapshot->process_capacity;
	CLEANUP(column_free) struct column spare = { 0 };

	if (column_grow(&spare, 0, capacity + 1) < 0)
		return -ENOMEM;
	for (int id = 0; id < METRIC_STORED; id++) {
		struct column *column = &snapshot->columns[id];
		struct column old = *column;

		if (metrics[id].scope != scope || !column->values)
			continue;
		gather_values(order, column, rows, &spare);
		memset(spare.states + order->count, 0, capacity - order->count);
		column->values = spare.values;
		column->states = spare.states;
		spare.values = old.values;
		spare.states = old.states;
	}
	return 0;
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

static void number_rows(const struct row_order *order, uint32_t *new_row, size_t rows)
{
	memset(new_row, 0xff, rows * sizeof(*new_row)); /* SHEET_KEY_GONE */
	for (uint32_t i = 0; i < order->count; i++)
		new_row[order->rows[i]] = i;
}

static const char only_left_out[] = "only processes that were left out have it";

/* Moves the rows of a scope, with their cells and what sheets say about them. */
static int move_rows(struct snapshot *snapshot, enum metric_scope scope,
		     const struct row_order *order)
{
	bool is_task = scope == METRIC_OF_THREAD;
	void **table = is_task ? (void **)&snapshot->tasks : (void **)&snapshot->processes;
	size_t size = is_task ? sizeof(struct task) : sizeof(struct process);
	size_t *count = is_task ? &snapshot->task_count : &snapshot->process_count;
	size_t capacity = is_task ? snapshot->task_capacity : snapshot->process_capacity;
	CLEANUP(free_pointer) uint32_t *new_row = malloc(*count * sizeof(*new_row) + 1);
	CLEANUP(free_pointer) char *moved = malloc(capacity * size + 1);
	char *old = *table;

	if (!new_row || !moved || move_cells(snapshot, scope, order) < 0)
		return -ENOMEM;
	number_rows(order, new_row, *count);
	for (size_t i = 0; i < order->count; i++)
		memcpy(moved + i * size, old + order->rows[i] * size, size);
	*table = moved;
	moved = old;
	*count = order->count;
	if (sheet_move(&snapshot->sheets[is_task ? SHEET_RUN_THREADS : SHEET_RUN_PROCESSES],
		       new_row, only_left_out) < 0)
		return -ENOMEM;
	if (is_task)
		return 0;
	for (size_t row = 0; row < snapshot->task_count; row++)
		snapshot->tasks[row].process = new_row[snapshot->tasks[row].process];
	return index_processes(snapshot);
}

static int keep_rows(struct snapshot *snapshot, enum metric_scope scope, const uint8_t *keep,
		     size_t rows)
{
	CLEANUP(row_order_clear) struct row_order order = { 0 };

	if (row_order_init(&order, rows) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < rows; row++)
		if (keep[row])
			order.rows[order.count++] = row;
	return move_rows(snapshot, scope, &order);
}

/* Drops the readings of processes that are not kept. */
static int keep_readings(struct snapshot *snapshot, const uint8_t *keep)
{
	size_t rows = snapshot->process_count;
	CLEANUP(free_pointer) uint32_t *new_row = malloc(rows * sizeof(*new_row) + 1);
	uint32_t kept = 0;

	if (!new_row)
		return -ENOMEM;
	for (size_t row = 0; row < rows; row++)
		new_row[row] = keep[row] ? kept++ : SHEET_KEY_GONE;
	number_map_clear(&snapshot->process_rows);
	return sheet_move(&snapshot->sheets[SHEET_PROCESSES], new_row, only_left_out);
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

int snapshot_keep(struct snapshot *snapshot, const uint8_t *keep)
{
	CLEANUP(free_pointer) uint8_t *used = calloc(snapshot->process_count + 1, 1);
	int status =
		used ? keep_rows(snapshot, METRIC_OF_THREAD, keep, snapshot->task_count) : -ENOMEM;

	if (status < 0)
		return status;
	for (size_t row = 0; row < snapshot->task_count; row++)
		used[snapshot->tasks[row].process] = 1;
	status = keep_readings(snapshot, used);
	if (status == 0)
		status = keep_rows(snapshot, METRIC_OF_PROCESS, used, snapshot->process_count);
	if (status == 0)
		find_first_tasks(snapshot);
	return status;
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

/* Whether the rows, taken in the order `rows` (NULL: as they are), are sorted. */
static bool is_sorted(const struct snapshot *snapshot, enum metric_scope scope,
		      const uint32_t *rows, size_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		struct order previous = order_of(snapshot, scope, rows ? rows[i - 1] : i - 1);
		struct order order = order_of(snapshot, scope, rows ? rows[i] : i);

		if (compare_order(&previous, &order) > 0)
			return false;
	}
	return true;
}

/* Puts the rows of each process together: sources list the threads of a process by tid. */
static int group_tasks(const struct snapshot *snapshot, uint32_t *rows)
{
	CLEANUP(free_pointer)
	uint32_t *next = calloc(snapshot->process_count + 1, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (size_t row = 0; row < snapshot->task_count; row++)
		next[snapshot->tasks[row].process + 1]++;
	for (size_t process = 0; process < snapshot->process_count; process++)
		next[process + 1] += next[process];
	for (uint32_t row = 0; row < snapshot->task_count; row++)
		rows[next[snapshot->tasks[row].process]++] = row;
	return 0;
}

static int sort_any(const struct snapshot *snapshot, enum metric_scope scope, uint32_t *rows,
		    size_t count)
{
	CLEANUP(free_pointer) struct order *order = malloc(count * sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t row = 0; row < count; row++)
		order[row] = order_of(snapshot, scope, row);
	qsort(order, count, sizeof(*order), compare_order);
	for (size_t i = 0; i < count; i++)
		rows[i] = order[i].row;
	return 0;
}

static int sort_rows(struct snapshot *snapshot, enum metric_scope scope, size_t count)
{
	CLEANUP(row_order_clear) struct row_order order = { .count = count };
	bool is_task = scope == METRIC_OF_THREAD;
	int status;

	if (is_sorted(snapshot, scope, NULL, count))
		return 0;
	status = row_order_init(&order, count);
	if (status == 0 && is_task)
		status = group_tasks(snapshot, order.rows);
	if (status == 0 && !(is_task && is_sorted(snapshot, scope, order.rows, count)))
		status = sort_any(snapshot, scope, order.rows, count);
	return status < 0 ? status : move_rows(snapshot, scope, &order);
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
	return is_sorted(snapshot, METRIC_OF_PROCESS, NULL, snapshot->process_count) &&
	       is_sorted(snapshot, METRIC_OF_THREAD, NULL, snapshot->task_count);
}
