/* SPDX-License-Identifier: MIT */
#include "render/snapshot_csv.h"

#include <errno.h>
#include <inttypes.h>

#include "base/text.h"
#include "model/snapshot.h"
#include "render/snapshot_view.h"
#include "render/value.h"

/* The sheet while it is written; lines gather here and leave in large pieces. */
struct csv_sheet {
	const struct snapshot_view *view;
	const struct snapshot *snapshot;
	struct text lines;
	FILE *out;
	bool line_begun;
	int status;
};

#define PIECE ((size_t)256 * 1024)

static void flush_lines(struct csv_sheet *sheet)
{
	if (sheet->lines.failed)
		sheet->status = -ENOMEM;
	else
		fwrite(text_string(&sheet->lines), 1, sheet->lines.length, sheet->out);
	text_clear(&sheet->lines);
}

static struct text *next_field(struct csv_sheet *sheet)
{
	if (sheet->line_begun)
		text_append(&sheet->lines, ",", 1);
	sheet->line_begun = true;
	return &sheet->lines;
}

static void end_line(struct csv_sheet *sheet)
{
	text_append(&sheet->lines, "\n", 1);
	sheet->line_begun = false;
	if (sheet->lines.length > PIECE)
		flush_lines(sheet);
}

/* Threads are told by what identifies them, as in JSON. */
static const char *const identity_names[] = {
	"tid", "tgid", "comm", "pcomm", "cgroup", "start_time_ns", "scope", NULL,
};

static void write_identity(struct csv_sheet *sheet, const struct group *group)
{
	const struct snapshot *snapshot = sheet->snapshot;
	const struct task *task = &snapshot->tasks[sheet->view->grouping->rows[group->first]];
	const struct process *process = &snapshot->processes[task->process];

	text_format(next_field(sheet), "%" PRId32, task->tid);
	text_format(next_field(sheet), "%" PRId32, process->tgid);
	csv_append(next_field(sheet), snapshot_text(snapshot, task->comm));
	csv_append(next_field(sheet), snapshot_text(snapshot, process->pcomm));
	csv_append(next_field(sheet), snapshot_text(snapshot, task->cgroup));
	text_format(next_field(sheet), "%" PRIu64, task->start_time_ns);
	csv_append(next_field(sheet), snapshot_text(snapshot, task->scope));
}

static bool shows_identity(const struct snapshot_view *view)
{
	return view->grouping->axis == AXIS_THREAD && view->columns.count == 0;
}

static void write_header(struct csv_sheet *sheet, const struct view_columns *columns)
{
	if (shows_identity(sheet->view)) {
		for (size_t i = 0; identity_names[i]; i++)
			text_append_string(next_field(sheet), identity_names[i]);
	} else {
		for (size_t i = 0; i < columns->count; i++)
			text_append_string(next_field(sheet), view_column_name(columns->ids[i]));
	}
	for (size_t i = 0; i < sheet->view->metrics.count && !columns->is_long; i++)
		text_append_string(next_field(sheet), metrics[sheet->view->metrics.ids[i]].name);
	end_line(sheet);
}

static void write_wide(struct csv_sheet *sheet, const struct view_columns *columns,
		       const struct group *group)
{
	const struct selection *shown = &sheet->view->metrics;
	struct fold fold;

	if (shows_identity(sheet->view)) {
		write_identity(sheet, group);
	} else {
		for (size_t i = 0; i < columns->count; i++)
			view_group_cell(next_field(sheet), sheet->view, group, columns->ids[i],
					CELL_RAW);
	}
	for (size_t i = 0; i < shown->count; i++) {
		group_fold(sheet->view->grouping, group, shown->ids[i], &fold);
		value_csv(next_field(sheet), sheet->snapshot, &fold);
	}
	end_line(sheet);
}

static void write_long(struct csv_sheet *sheet, const struct view_columns *columns,
		       const struct group *group)
{
	const struct selection *shown = &sheet->view->metrics;

	for (size_t m = 0; m < shown->count; m++) {
		struct fold fold;

		group_fold(sheet->view->grouping, group, shown->ids[m], &fold);
		for (size_t i = 0; i < columns->count; i++)
			view_cell(next_field(sheet), sheet->view, group, &fold, columns->ids[i],
				  CELL_RAW);
		end_line(sheet);
	}
}

int snapshot_csv_print(const struct snapshot_view *view, FILE *out)
{
	const struct view_columns *columns = view_columns(view);
	struct csv_sheet sheet = { .view = view, .snapshot = view->grouping->snapshot, .out = out };

	write_header(&sheet, columns);
	for (size_t i = 0; i < view_shown(view); i++) {
		if (columns->is_long)
			write_long(&sheet, columns, &view->grouping->groups[i]);
		else
			write_wide(&sheet, columns, &view->grouping->groups[i]);
	}
	flush_lines(&sheet);
	text_free(&sheet.lines);
	return sheet.status;
}
