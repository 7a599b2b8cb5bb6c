/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_csv.h"

#include <errno.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/snapshot_view.h"
#include "render/table/table.h"

/* Threads are written with the fields that identify them, as in JSON. */
static const char *const identity[] = { "tid",	  "tgid",	   "comm", "pcomm",
					"cgroup", "start_time_ns", "scope" };

static bool shows_identity(const struct snapshot_view *view)
{
	return view->grouping->axis == AXIS_THREAD && view->columns.count == 0;
}

static void add_columns(struct table *table, const struct snapshot_view *view,
			const struct view_columns *columns)
{
	size_t count = shows_identity(view) ? ARRAY_SIZE(identity) : columns->count;

	for (size_t i = 0; i < count; i++)
		table_add_column(table, (struct table_column){
						.id = shows_identity(view) ?
							      identity[i] :
							      view_column_name(columns->ids[i]) });
	for (size_t i = 0; i < view->metrics.count && !columns->is_long; i++)
		table_add_column(table,
				 (struct table_column){ .id = metrics[view->metrics.ids[i]].name });
}

static void put_identity(struct table *table, const struct snapshot_view *view,
			 const struct group *group)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	const struct task *task = &snapshot->tasks[view->grouping->rows[group->first]];
	const struct process *process = &snapshot->processes[task->process];

	put_signed(table, task->tid);
	put_signed(table, process->tgid);
	put_string(table, snapshot_text(snapshot, task->comm));
	put_string(table, snapshot_text(snapshot, process->pcomm));
	put_string(table, snapshot_text(snapshot, task->cgroup));
	put_number(table, task->start_time_ns);
	put_string(table, snapshot_text(snapshot, task->scope));
}

/* A line for the group; in the long layout, for each of its metrics. */
static void put_lines(struct table *table, const struct snapshot_view *view,
		      const struct view_columns *columns, const struct group *group)
{
	struct fold fold;

	if (shows_identity(view))
		put_identity(table, view, group);
	for (size_t i = 0; i < columns->count && !shows_identity(view) && !columns->is_long; i++)
		view_put(table, view, group, NULL, columns->ids[i], FOR_PROGRAMS);
	for (size_t m = 0; m < view->metrics.count; m++) {
		group_fold(view->grouping, group, view->metrics.ids[m], &fold);
		if (!columns->is_long)
			put_fold(table, &fold);
		for (size_t i = 0; i < columns->count && columns->is_long; i++)
			view_put(table, view, group, &fold, columns->ids[i], FOR_PROGRAMS);
	}
}

int snapshot_csv_print(const struct snapshot_view *view, FILE *out)
{
	const struct view_columns *columns = view_columns(view);
	CLEANUP(table_clear) struct table table = { 0 };

	add_columns(&table, view, columns);
	table_stream_csv(&table, out);
	for (size_t i = 0; i < view_shown(view); i++)
		put_lines(&table, view, columns, &view->grouping->groups[i]);
	return table.failed ? -ENOMEM : 0;
}
