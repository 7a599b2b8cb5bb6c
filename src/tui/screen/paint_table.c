/* SPDX-License-Identifier: MIT */
/*
 * The table: who it is, the metrics that were chosen, and the name, which has the room that is left.
 * Only rows on the screen are made.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"
#include "tui/screen/paint_extras.h"
#include "tui/screen/top_state.h"

#define PID_WIDTH 7
#define USER_WIDTH 8
#define DEEPEST 20
#define BEFORE_SCOPE 3 /* metrics: on a narrow screen a scope only has the room that they leave */
#define SCOPE_LEAST 6

static bool is_by_task(const struct top *top)
{
	return top->choice.axis == AXIS_PROCESS || top->choice.axis == AXIS_THREAD;
}

/* On a narrow screen, whose it is gives way to what it does, and that to its name. */
static bool shows_user(const struct top *top)
{
	const struct moment_source_kind *kind = top->options->source->kind;

	/* Graphs and waits take the room where there are any. */
	return display_columns() >= (kind->is_live || kind->can_move ? 90 : 60);
}

/* A quarter of the screen is for the name: what a row is comes before its further figures. */
static int name_least(void)
{
	return display_columns() / 4 > NAME_LEAST ? display_columns() / 4 : NAME_LEAST;
}

static uint32_t depth_of(const struct top *top, size_t row)
{
	uint32_t depth = top->view.depths ? top->view.depths[row] : 0;

	return depth < DEEPEST ? depth : DEEPEST;
}

void top_row_name(const struct top *top, size_t row, struct text *out)
{
	const struct grouping *grouping = top->view.grouping;
	const struct snapshot *snapshot = grouping->snapshot;
	const struct task *task;
	const struct process *process;
	const char *name;

	if (top->shows_jobs) {
		top_job_name(top, row, out);
		return;
	}
	task = &snapshot->tasks[top_task(top, row)];
	process = &snapshot->processes[task->process];
	name = grouping->groups[row].key;
	if (grouping->axis == AXIS_THREAD)
		name = snapshot_text(snapshot, task->comm);
	else if (grouping->axis == AXIS_PROCESS)
		name = snapshot_text(snapshot,
				     process->cmdline ? process->cmdline : process->pcomm);
	if (!name[0])
		name = "(none)";
	text_append_escaped(out, name, strlen(name));
}

/* The rows of the screen as a table: the number of tasks, their scope, the metrics. */
static int make_rows(struct top *top, struct view_rows *ret, struct snapshot_view *view,
		     struct grouping *part)
{
	size_t rows = top_rows(top) - top->first;

	*part = *top->view.grouping;
	part->groups += top->first;
	part->group_count = rows < top->page ? rows : top->page;
	*view = top->view.view;
	view->grouping = part;
	view->metrics = top->choice.metrics;
	view->depths = NULL;
	view->limit = 0;
	view->columns = (struct column_list){ .ids = { COLUMN_TASKS, COLUMN_SCOPE }, .count = 2 };
	view_rows_init(ret, view, &view->metrics, true);
	view_rows_put_all(ret);
	top->view.grouping->cpu_counts = part->cpu_counts;
	return ret->table.failed ? -1 : 0;
}

static void measure(struct top *top, const struct view_rows *rows)
{
	CLEANUP(text_free) struct text cell = { 0 };

	for (size_t i = 0; i < top->choice.metrics.count && i < COLUMNS_MOST; i++) {
		int *width = &top->widths[i];
		int title = (int)strlen(rows->table.columns.data[CELL_METRICS + i].title);

		if (*width < title)
			*width = title;
		for (size_t row = 0; row < table_rows(&rows->table); row++) {
			extras_cell(rows, row, CELL_METRICS + i, &cell);
			if (*width < (int)text_width(text_string(&cell)))
				*width = (int)text_width(text_string(&cell));
		}
	}
}

/* How wide a user's name, and which row it is of; absent without a user. */
static void append_user(const struct top *top, size_t row, struct text *out)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	const struct process *process =
		&snapshot->processes[snapshot->tasks[top_task(top, row)].process];
	const char *user = snapshot_text(snapshot, process->user);

	text_append_escaped(out, user[0] ? user : "-", user[0] ? strlen(user) : 1);
}

static void append_pid(const struct top *top, size_t row, struct text *out)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	const struct task *task = &snapshot->tasks[top_task(top, row)];

	text_format(out, "%*" PRId32, PID_WIDTH,
		    top->choice.axis == AXIS_THREAD ? task->tid :
						      snapshot->processes[task->process].tgid);
}

/* What follows the title of a column: which way it is sorted, or a blank. */
static const char *sort_mark(const struct top *top, const struct group_sort *sort)
{
	if (!top_is_sorted_by(top, sort))
		return " ";
	if (top_current_sort(top).ascending)
		return display_has_blocks() ? "▲" : "^";
	return display_has_blocks() ? "▼" : "v";
}

/* A state that a person should see: one that waits for a disk, one that nobody waited for. */
static enum style cell_style(const struct cell *cell)
{
	if (cell->kind != TABLE_CELL_CATEGORY || cell->unit != UNIT_STATE)
		return STYLE_PLAIN;
	return cell->number == 'D' || cell->number == 'Z' ? STYLE_BAD :
	       cell->number == 'R'			  ? STYLE_GOOD :
							    STYLE_PLAIN;
}

static int paint_right(int row, int column, int width, enum style style, bool is_marked,
		       const char *text)
{
	int taken = (int)text_width(text);

	display_put(row, column + (taken < width ? width - taken : 0), width, style, is_marked,
		    text);
	return column + width + 1;
}

struct layout {
	size_t last; /* one more than the last metric that fits */
	struct extras extras;
	int row;
};

static int taken_without_metrics(const struct top *top, const struct extras *extras)
{
	return PID_WIDTH + 1 + (is_by_task(top) && shows_user(top) ? USER_WIDTH + 1 : 0) +
	       name_least() + extras_width(extras);
}

/* The first metrics go before the scope, and the scope before further ones. */
static void fit_scope(const struct top *top, struct extras *extras)
{
	int left = display_columns() - taken_without_metrics(top, extras);
	size_t i = top->shift;

	for (size_t shown = 0;
	     shown < BEFORE_SCOPE && i < top->choice.metrics.count && i < COLUMNS_MOST; shown++)
		left -= top->widths[i++] + 2;
	if (left < 0)
		extras->scope_width += left;
	if (extras->scope_width < SCOPE_LEAST)
		extras->scope_width = 0;
}

static size_t fitting(const struct top *top, const struct extras *extras)
{
	int used = taken_without_metrics(top, extras);
	size_t i = top->shift;

	if (!extras_have_room())
		return i;
	for (; i < top->choice.metrics.count && i < COLUMNS_MOST; i++) {
		used += top->widths[i] + 2;
		if (used > display_columns() && i > top->shift)
			break;
	}
	return i;
}

/* A title with its mark, which a click finds again. */
static int paint_title(struct top *top, int row, int column, int width, const char *title,
		       struct group_sort sort)
{
	CLEANUP(text_free) struct text text = { 0 };

	text_format(&text, "%s%s", title, sort_mark(top, &sort));
	if (top->painted_count < ARRAY_SIZE(top->painted))
		top->painted[top->painted_count++] =
			(struct painted_column){ column, column + width, sort };
	return paint_right(row, column, width, STYLE_TITLES, false, text_string(&text));
}

static void paint_titles(struct top *top, const struct view_rows *rows, const struct layout *layout)
{
	struct group_sort first = group_sort_by(is_by_task(top) ? ORDER_PID : ORDER_TASKS);
	struct group_sort name = group_sort_by(ORDER_KEY);
	int row = layout->row, column;

	top->painted_count = 0;
	column = paint_title(top, row, 0, PID_WIDTH + 1,
			     !is_by_task(top)		     ? "TASKS" :
			     top->choice.axis == AXIS_THREAD ? "TID" :
							       "PID",
			     first) -
		 1;
	if (is_by_task(top) && shows_user(top)) {
		display_put(row, column, USER_WIDTH, STYLE_TITLES, false, "USER");
		column += USER_WIDTH + 1;
	}
	for (size_t i = top->shift; i < layout->last; i++)
		column = paint_title(top, row, column, top->widths[i] + 1,
				     rows->table.columns.data[CELL_METRICS + i].title,
				     (struct group_sort){ .by = ORDER_METRIC,
							  .metric = top->choice.metrics.ids[i] });
	column = extras_paint_titles(row, column, &layout->extras);
	top->painted[top->painted_count++] =
		(struct painted_column){ column, display_columns(), name };
	column += display_put(row, column, display_columns(), STYLE_TITLES, false,
			      top->choice.axis == AXIS_PROCESS ? "COMMAND" : "NAME");
	display_put(row, column, 1, STYLE_TITLES, false, sort_mark(top, &name));
}

/* Which program it is says more than where that is, which all about the row has. */
static const char *without_folder(const char *command)
{
	size_t length = strcspn(command, " ");
	const char *name = command;

	for (size_t i = 0; command[0] == '/' && i + 1 < length; i++)
		if (command[i] == '/')
			name = command + i + 1;
	return name;
}

static void paint_row(struct top *top, const struct view_rows *rows, const struct layout *layout,
		      size_t line)
{
	CLEANUP(text_free) struct text cell = { 0 };
	size_t number = top->first + line;
	bool is_marked = number == top->selected;
	int row = layout->row + 1 + (int)line, column = 0;

	display_put(row, 0, 1, STYLE_PLAIN, is_marked, " ");
	display_fill(row, 0, is_marked);
	if (is_by_task(top)) {
		append_pid(top, number, &cell);
		column = paint_right(row, column, PID_WIDTH, STYLE_PLAIN, is_marked,
				     text_string(&cell));
		text_clear(&cell);
		append_user(top, number, &cell);
		if (shows_user(top))
			display_put_name(row, column, USER_WIDTH, is_marked, text_string(&cell));
		column += shows_user(top) ? USER_WIDTH + 1 : 0;
	} else {
		extras_cell(rows, line, CELL_TASKS, &cell);
		column = paint_right(row, column, PID_WIDTH, STYLE_PLAIN, is_marked,
				     text_string(&cell));
	}
	for (size_t i = top->shift; i < layout->last; i++) {
		extras_cell(rows, line, CELL_METRICS + i, &cell);
		paint_right(row, column, top->widths[i],
			    cell_style(table_at(&rows->table, line, CELL_METRICS + i)), is_marked,
			    text_string(&cell));
		column += top->widths[i] + 2;
	}
	column = extras_paint(top, rows, &layout->extras, row, line, column);
	text_clear(&cell);
	top_row_name(top, number, &cell);
	column += 2 * (int)depth_of(top, number);
	display_put_name(row, column, display_columns() - column, is_marked,
			 top->choice.axis == AXIS_PROCESS ? without_folder(text_string(&cell)) :
							    text_string(&cell));
}

/* The marked row is always on the screen. */
void top_keep_selected(struct top *top, int rows)
{
	top->page = rows > 1 ? (size_t)rows - 1 : 0;
	if (top->selected < top->first)
		top->first = top->selected;
	if (top->page && top->selected >= top->first + top->page)
		top->first = top->selected - top->page + 1;
	if (top->first >= top_rows(top))
		top->first = 0;
}

/* Where nothing has what the view is about, it says who would. */
static void paint_hint(const struct top *top, int row)
{
	const struct grouping *grouping = top->view.grouping;

	if (grouping->axis == AXIS_SCOPE && grouping->group_count == 1 &&
	    !grouping->groups[0].key[0])
		display_put(row + 2, 0, display_columns(), STYLE_PLAIN, false,
			    "no scope is open: programs with libtaskscope have them");
}

void top_paint_table(struct top *top, int row, int rows)
{
	struct layout layout = { .row = row };
	struct snapshot_view view;
	struct view_rows cells;
	struct grouping part;

	top->table_row = row;
	if (!top->view.grouping || rows < 1)
		return;
	top_keep_selected(top, rows);
	if (top->first + top->page > top->choice.ordered)
		top_order_all(top);
	if (make_rows(top, &cells, &view, &part) == 0) {
		measure(top, &cells);
		layout.extras = extras_choose(top, &cells);
		fit_scope(top, &layout.extras);
		layout.last = fitting(top, &layout.extras);
		paint_titles(top, &cells, &layout);
		for (size_t line = 0; line < part.group_count; line++)
			paint_row(top, &cells, &layout, line);
		if (rows > 2)
			paint_hint(top, row);
	}
	table_clear(&cells.table);
}
