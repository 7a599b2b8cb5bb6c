/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_view.h"

#include <errno.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

/* A line for each thread, with the fields that identify it, as in JSON. */
static int print_threads(const struct snapshot_view *view, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct grouping *grouping = view->grouping;
	struct fold fold;

	view_add_identity(&table);
	view_add_metrics(&table, view, &view->metrics);
	table_stream_csv(&table, out);
	for (size_t i = 0; i < view_shown(view); i++) {
		const struct group *group = &grouping->groups[i];

		view_put_identity(&table, grouping->snapshot, grouping->rows[group->first]);
		for (size_t m = 0; m < view->metrics.count; m++) {
			group_fold(grouping, group, view->metrics.ids[m], &fold);
			view_put_fold(&table, view, &fold);
		}
	}
	return table.failed ? -ENOMEM : 0;
}

int snapshot_csv_print(const struct snapshot_view *view, FILE *out)
{
	struct view_rows rows;
	int status;

	if (view->grouping->axis == AXIS_THREAD && view->columns.count == 0)
		return print_threads(view, out);
	view_rows_init(&rows, view, &view->metrics, false);
	table_stream_csv(&rows.table, out);
	view_rows_put_all(&rows);
	status = rows.table.failed ? -ENOMEM : 0;
	table_clear(&rows.table);
	return status;
}
