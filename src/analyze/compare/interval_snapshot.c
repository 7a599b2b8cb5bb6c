/* SPDX-License-Identifier: MIT */
#include "analyze/compare/interval_snapshot.h"

#include <errno.h>
#include <string.h>

#include "analyze/compare/fold/compare_fold.h"
#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/compare_mode.h"
#include "analyze/match/exited.h"
#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

/*
 * A layout in which every row is a group of its own, so that the work of each
 * row comes out.  Rows of exited threads are groups after those of tasks.
 */
struct maker {
	const struct snapshot *from;
	struct snapshot *to;
	struct arena arena;
	struct compare_layout layout;
	struct compare_run runs[SIDES];
	struct move *moves;
	uint32_t *unknown;
	struct exited_sums sums;
	size_t tasks; /* of `to`, without the rows of exited threads */
};

static void maker_clear(struct maker *maker)
{
	arena_clear(&maker->arena);
}

/* Adds a row for the exited threads of a process. */
static int add_exited(struct maker *maker, uint32_t process)
{
	const struct process *of = &maker->to->processes[process];
	struct task task = maker->to->tasks[of->first_task];
	CLEANUP(text_free) struct text name = { 0 };
	uint32_t row;

	text_format(&name, "%s (exited threads)", snapshot_text(maker->to, of->pcomm));
	task.tid = 0;
	task.scope = 0;
	if (name.failed ||
	    snapshot_intern(maker->to, text_string(&name), name.length, &task.comm) < 0 ||
	    snapshot_add_task(maker->to, &task, &row) < 0)
		return -ENOMEM;
	if (maker->to->columns[METRIC_thread_count].values)
		snapshot_set(maker->to, METRIC_thread_count, row, 0);
	maker->layout.exited_group[process] = row;
	return 0;
}

static int add_all_exited(struct maker *maker)
{
	int status =
		arena_array(&maker->arena, maker->layout.exited_group, maker->to->process_count);

	for (uint32_t i = 0; i < maker->to->process_count && status == 0; i++) {
		maker->layout.exited_group[i] = NO_GROUP;
		if (exited_any(&maker->layout.join, i))
			status = add_exited(maker, i);
	}
	return status;
}

/* Every row of `to` is its own group; those of `from` are never asked for more than a place. */
static int number_rows(struct maker *maker, enum metric_scope scope, size_t from, size_t to)
{
	struct member_rows *before = &maker->runs[0].rows[scope];
	struct member_rows *after = &maker->runs[1].rows[scope];

	before->count = from;
	after->count = to;
	if (arena_array(&maker->arena, before->group_of, from) < 0 ||
	    arena_array(&maker->arena, after->group_of, to) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < to; i++)
		after->group_of[i] = i;
	return member_rows_list(after, &maker->arena);
}

static int maker_init(struct maker *maker)
{
	struct compare_layout *layout = &maker->layout;
	struct join *join = &layout->join;
	size_t groups;

	maker->tasks = maker->to->task_count;
	maker->runs[0].snapshot = maker->from;
	maker->runs[1].snapshot = maker->to;
	layout->runs = maker->runs;
	layout->first_exited = maker->tasks;
	if (join_init(join, &maker->arena, maker->from, maker->to) < 0 ||
	    exited_sums_init(&maker->sums, &maker->arena, join) < 0 || add_all_exited(maker) < 0 ||
	    number_rows(maker, METRIC_OF_THREAD, maker->from->task_count, maker->tasks) < 0 ||
	    number_rows(maker, METRIC_OF_PROCESS, maker->from->process_count,
			maker->to->process_count) < 0)
		return -ENOMEM;
	layout->before_of[METRIC_OF_THREAD] = join->before_of_task;
	layout->before_of[METRIC_OF_PROCESS] = join->before_of_process;
	groups = maker->to->task_count + maker->to->process_count;
	layout->group_count = groups;
	if (arena_array(&maker->arena, maker->moves, groups) < 0 ||
	    arena_array(&maker->arena, maker->unknown, groups) < 0)
		return -ENOMEM;
	return 0;
}

/* Replaces the values of a counter by its growth. */
static void take_moves(struct maker *maker, enum metric_id id)
{
	struct column *column = &maker->to->columns[id];
	size_t rows = snapshot_rows(maker->to, id);

	if (!column->values)
		return;
	moves_fold(maker->moves, maker->unknown, &maker->layout, &metrics[id], &maker->sums);
	for (uint32_t row = 0; row < rows; row++) {
		const struct move *move = &maker->moves[row];
		uint64_t grew = move->gained > move->lost ? move->gained - move->lost : 0;

		column_set(column, row, move->known ? CELL_NUMBER : CELL_ABSENT, grew);
	}
}

/* Threads first: their exited ones are read from totals of the processes. */
static void take_all_moves(struct maker *maker)
{
	static const enum metric_scope order[] = { METRIC_OF_THREAD, METRIC_OF_PROCESS };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		for (int id = 0; id < METRIC_STORED; id++)
			if (metrics[id].kind == KIND_COUNTER && metrics[id].scope == order[i])
				take_moves(maker, (enum metric_id)id);
}

/* By row of a sheet of `to`: the row of `from`, JOIN_BORN or JOIN_MISSED. */
static uint32_t row_before(const struct maker *maker, enum sheet_id id, const uint32_t *row_of,
			   uint32_t row)
{
	const struct sheet *from = &maker->from->sheets[id], *to = &maker->to->sheets[id];
	const char *path;
	uint32_t number;

	if (id != SHEET_CGROUPS)
		return from->row_count ? 0 : JOIN_MISSED;
	path = snapshot_text(maker->to, to->keys[row]);
	number = dictionary_find(maker->from->strings, path, strlen(path));
	if ((number || !path[0]) && row_of[number] != NO_ROW)
		return row_of[number];
	return from->row_count && !maker->from->facts[FACT_filter].present ? JOIN_BORN :
									     JOIN_MISSED;
}

/* Replaces a reading by its growth; one that fell began again, so its growth is not known. */
static void take_growth(const struct column *from, struct column *to, uint32_t before, uint32_t row)
{
	uint64_t was = 0;

	if (to->states[row] != CELL_NUMBER)
		return;
	if (before == JOIN_MISSED ||
	    (join_is_row(before) && column_get(from, before, &was) != CELL_NUMBER) ||
	    was > to->values[row])
		to->states[row] = CELL_ABSENT;
	else
		to->values[row] -= was;
}

static int take_sheet(struct maker *maker, enum sheet_id id)
{
	const struct sheet *from = &maker->from->sheets[id];
	struct sheet *to = &maker->to->sheets[id];
	size_t strings = dictionary_count(maker->from->strings);
	uint32_t *row_of, *before;

	if (arena_array(&maker->arena, row_of, strings) < 0 ||
	    arena_array(&maker->arena, before, to->row_count) < 0)
		return -ENOMEM;
	memset(row_of, 0xff, strings * sizeof(*row_of));
	for (uint32_t row = 0; id == SHEET_CGROUPS && row < from->row_count; row++)
		row_of[from->keys[row]] = row;
	for (uint32_t row = 0; row < to->row_count; row++)
		before[row] = row_before(maker, id, row_of, row);
	for (size_t i = 0; i < to->columns.count; i++) {
		struct column *column = &to->columns.data[i];
		const struct column *old = sheet_find(from, column->metric->name);

		if (column->metric->kind != KIND_COUNTER || !column->values)
			continue;
		for (uint32_t row = 0; row < to->row_count; row++)
			take_growth(old, column, before[row], row);
	}
	return 0;
}

static int make(struct maker *maker)
{
	int status = maker_init(maker);

	if (status < 0)
		return status;
	take_all_moves(maker);
	status = take_sheet(maker, SHEET_HOST);
	if (status == 0)
		status = take_sheet(maker, SHEET_CGROUPS);
	/* Rows are in order already, unless some were added. */
	if (status < 0 || maker->to->task_count == maker->tasks)
		return status;
	return snapshot_finish(maker->to);
}

int interval_snapshot_make(const struct snapshot *from, struct snapshot *to, const char *name,
			   struct error *error)
{
	CLEANUP(maker_clear) struct maker maker = { .from = from, .to = to };
	const char *refusal = compare_mode_refusal(from, to);
	uint64_t elapsed;

	elapsed = to->facts[FACT_boottime_ns].number - from->facts[FACT_boottime_ns].number;
	if (!refusal && elapsed == 0)
		refusal = "no time is between its ends";
	if (refusal)
		return error_set(error, -EINVAL, "'%s' is not an interval: %s", name, refusal);
	if (make(&maker) < 0)
		return error_set(error, -ENOMEM, "cannot make an interval: out of memory");
	to->interval_ns = elapsed;
	return 0;
}
