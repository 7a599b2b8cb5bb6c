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
#include "tui/screen/top_state.h"

#define NAME_LEAST 12
#define PID_WIDTH 7
#define USER_WIDTH 8
#define DEEPEST 20
#define WAIT_WIDTH 12
#define STATE_WIDTH 1 /* of a narrow screen, which shows no more of the wait */
#define PROGRESS_WIDTH 34

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

static bool shows_metrics(void)
{
	return display_columns() >= 32;
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

/* The columns of struct view_rows before its metrics. */
enum {
	CELL_TASKS,
	CELL_SCOPE,
	CELL_METRICS,
};

static void cell_at(const struct view_rows *rows, size_t row, size_t column, struct text *out)
{
	text_clear(out);
	cell_text(out, &rows->table, table_at(&rows->table, row, column));
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
			cell_at(rows, row, CELL_METRICS + i, &cell);
			if (*width < (int)text_width(text_string(&cell)))
				*width = (int)text_width(text_string(&cell));
		}
	}
}

static bool shows_scopes(const struct view_rows *rows)
{
	for (size_t row = 0; row < table_rows(&rows->table); row++)
		if (table_at(&rows->table, row, CELL_SCOPE)->kind == TABLE_CELL_TEXT)
			return true;
	return false;
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

static enum style title_style(const struct top *top, size_t metric, char *arrow)
{
	const struct group_sort *sort = &top->choice.sorting.keys[0];
	bool is_sorted = top->choice.sorting.count ?
				 sort->by == ORDER_METRIC &&
					 sort->metric == top->choice.metrics.ids[metric] :
				 top->choice.metrics.ids[metric] == METRIC_run_time_ns;

	*arrow = !is_sorted ? ' ' : top->choice.sorting.count && sort->ascending ? '^' : 'v';
	return STYLE_TITLES;
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

/* Columns besides the metrics, as far as there is room for them. */
struct extras {
	bool has_graph, has_progress, has_scope;
	int wait_width; /* 0: none */
};

static struct extras choose_extras(const struct top *top, const struct view_rows *rows)
{
	const struct moment_source_kind *kind = top->options->source->kind;
	bool has_moments = kind->is_live || kind->can_move;
	int columns = display_columns();

	return (struct extras){
		.has_graph = has_moments && columns >= 64,
		.wait_width = !shows_metrics()		   ? 0 :
			      has_moments && columns >= 76 ? WAIT_WIDTH :
							     STATE_WIDTH,
		.has_progress = top->choice.axis == AXIS_SCOPE && columns >= 60,
		.has_scope = top->choice.axis != AXIS_SCOPE && shows_scopes(rows),
	};
}

static int extras_width(const struct extras *extras)
{
	return (extras->has_graph ? ROW_MOMENTS + 1 : 0) +
	       (extras->wait_width ? extras->wait_width + 1 : 0) +
	       (extras->has_progress ? PROGRESS_WIDTH + 1 : 0) +
	       (extras->has_scope ? NAME_LEAST + 1 : 0);
}

struct layout {
	size_t last; /* one more than the last metric that fits */
	struct extras extras;
	int row;
};

static size_t fitting(const struct top *top, const struct extras *extras)
{
	int used = PID_WIDTH + 1 + (is_by_task(top) && shows_user(top) ? USER_WIDTH + 1 : 0);
	size_t i = top->shift;

	if (!shows_metrics())
		return i;
	used += name_least() + extras_width(extras);
	for (; i < top->choice.metrics.count && i < COLUMNS_MOST; i++) {
		used += top->widths[i] + 2;
		if (used > display_columns() && i > top->shift)
			break;
	}
	return i;
}

static int paint_extra_titles(int row, int column, const struct extras *extras)
{
	const struct {
		bool is_shown;
		int width;
		const char *title;
	} titles[] = {
		{ extras->has_graph, ROW_MOMENTS, "PAST CPU" },
		{ extras->wait_width > 0, extras->wait_width,
		  extras->wait_width > STATE_WIDTH ? "WAITS FOR" : "S" },
		{ extras->has_progress, PROGRESS_WIDTH, "PROGRESS" },
		{ extras->has_scope, NAME_LEAST, "SCOPE" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (titles[i].is_shown) {
			display_put(row, column, titles[i].width, STYLE_TITLES, false,
				    titles[i].title);
			column += titles[i].width + 1;
		}
	return column;
}

/* Of several threads, which says most about them: one that runs, one in D, one that is not asleep. */
static int telling(char state)
{
	return state == 'R' ? 3 : state == 'D' ? 2 : state == 'S' || state == 'I' ? 0 : 1;
}

struct telling_thread {
	uint32_t row;	/* of the task */
	char state;	/* 0: no thread has one */
	uint32_t count; /* threads in that state */
};

static struct telling_thread find_telling(const struct grouping *grouping,
					  const struct group *group)
{
	const struct snapshot *tasks = grouping->snapshot;
	struct telling_thread best = { 0 };
	uint64_t best_ns = 0;

	for (uint32_t i = group->first; i < group->first + group->tasks; i++) {
		uint32_t row = grouping->rows[i];
		uint64_t state, run_ns = 0;

		if (!snapshot_get(tasks, METRIC_state, row, &state))
			continue;
		(void)snapshot_get(tasks, METRIC_run_time_ns, row, &run_ns);
		if (!best.state || telling((char)state) > telling(best.state))
			best = (struct telling_thread){ row, (char)state, 0 };
		else if ((char)state == best.state && run_ns > best_ns)
			best.row = row;
		else if ((char)state != best.state)
			continue;
		if (best.row == row)
			best_ns = run_ns;
		best.count++;
	}
	return best;
}

/* "S poll", "D disk x3": the state, what is known of the wait, and how many threads are in it. */
static enum style append_wait(struct top *top, const struct group *group, struct text *out)
{
	const struct grouping *grouping = top->view.grouping;
	struct telling_thread thread = find_telling(grouping, group);
	const struct task *task = &grouping->snapshot->tasks[thread.row];
	const struct task_key key = { grouping->snapshot->processes[task->process].tgid, task->tid,
				      task->start_time_ns };
	const char *what = "";

	if (!thread.state) {
		text_append_string(out, "-");
		return STYLE_PLAIN;
	}
	text_format(out, "%c", thread.state);
	if (thread.state != 'R' || !top->moment.is_live)
		what = moment_source_wait(top->options->source, &top->moment, &key,
					  !top->is_paused);
	if (what[0]) {
		text_append_string(out, " ");
		text_append_escaped(out, what, strlen(what));
	}
	if (thread.count > 1)
		text_format(out, " x%" PRIu32, thread.count);
	return thread.state == 'D' || thread.state == 'Z' ? STYLE_BAD :
	       thread.state == 'R'			  ? STYLE_GOOD :
							    STYLE_PLAIN;
}

/* Only threads that said how much there is to do count; the last of them to end says when. */
static enum style append_scope_progress(const struct top *top, const struct group *group,
					struct text *out)
{
	const struct grouping *grouping = top->view.grouping;
	const struct snapshot *tasks = grouping->snapshot;
	uint64_t done = 0, all = 0, left_ns = 0, stall_ns = 0;

	for (uint32_t i = group->first; i < group->first + group->tasks; i++) {
		uint32_t row = grouping->rows[i];
		uint64_t count, total, age_ns, stalled_ns;

		if (snapshot_get(tasks, METRIC_scope_stall_ns, row, &stalled_ns) &&
		    stalled_ns > stall_ns)
			stall_ns = stalled_ns;
		if (!snapshot_get(tasks, METRIC_scope_count, row, &count) ||
		    !snapshot_get(tasks, METRIC_scope_total, row, &total) || !total)
			continue;
		done += count < total ? count : total;
		all += total;
		if (count && count < total &&
		    snapshot_get(tasks, METRIC_scope_age_ns, row, &age_ns)) {
			double ns = (double)age_ns / (double)count * (double)(total - count);

			left_ns = ns > (double)left_ns ? (uint64_t)ns : left_ns;
		}
	}
	if (all)
		top_append_progress(out, (double)done / (double)all, done, all);
	if (left_ns && !stall_ns) {
		text_append_string(out, "  eta ");
		unit_format(out, UNIT_NS, left_ns);
	}
	if (!stall_ns)
		return STYLE_PLAIN;
	text_append_string(out, all ? "  stalled " : "stalled ");
	unit_format(out, UNIT_NS, stall_ns);
	return STYLE_BAD;
}

static int paint_extras(struct top *top, const struct view_rows *rows, const struct layout *layout,
			size_t line, int column)
{
	CLEANUP(text_free) struct text cell = { 0 };
	size_t number = top->first + line;
	const struct group *group = &top->view.grouping->groups[number];
	bool is_marked = number == top->selected;
	int row = layout->row + 1 + (int)line;
	enum style style;

	if (layout->extras.has_graph) {
		row_history_graph(&top->past, top->view.grouping, number, display_has_blocks(),
				  &cell);
		display_put(row, column, ROW_MOMENTS, STYLE_GOOD, is_marked, text_string(&cell));
		column += ROW_MOMENTS + 1;
	}
	if (layout->extras.wait_width) {
		text_clear(&cell);
		style = append_wait(top, group, &cell);
		display_put(row, column, layout->extras.wait_width, style, is_marked,
			    text_string(&cell));
		column += layout->extras.wait_width + 1;
	}
	if (layout->extras.has_progress) {
		text_clear(&cell);
		style = append_scope_progress(top, group, &cell);
		display_put(row, column, PROGRESS_WIDTH, style, is_marked, text_string(&cell));
		column += PROGRESS_WIDTH + 1;
	}
	if (layout->extras.has_scope) {
		cell_at(rows, line, CELL_SCOPE, &cell);
		display_put_name(row, column, NAME_LEAST, is_marked, text_string(&cell));
		column += NAME_LEAST + 1;
	}
	return column;
}

static void paint_titles(struct top *top, const struct view_rows *rows, const struct layout *layout)
{
	int row = layout->row, column = 0, columns = display_columns();

	top->painted_count = 0;
	if (is_by_task(top)) {
		column = paint_right(row, column, PID_WIDTH, STYLE_TITLES, false,
				     top->choice.axis == AXIS_THREAD ? "TID" : "PID");
		if (shows_user(top))
			display_put(row, column, USER_WIDTH, STYLE_TITLES, false, "USER");
		column += shows_user(top) ? USER_WIDTH + 1 : 0;
	} else {
		column = paint_right(row, column, PID_WIDTH, STYLE_TITLES, false, "TASKS");
	}
	for (size_t i = top->shift; i < layout->last; i++) {
		char title[64], arrow;
		enum style style = title_style(top, i, &arrow);

		snprintf(title, sizeof(title), "%s%c",
			 rows->table.columns.data[CELL_METRICS + i].title, arrow);
		top->painted[top->painted_count++] =
			(struct painted_column){ column, column + top->widths[i] + 1,
						 (int)top->choice.metrics.ids[i] };
		column = paint_right(row, column, top->widths[i] + 1, style, false, title);
	}
	column = paint_extra_titles(row, column, &layout->extras);
	display_put(row, column, columns, STYLE_TITLES, false,
		    top->choice.axis == AXIS_PROCESS ? "COMMAND" : "NAME");
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
		cell_at(rows, line, CELL_TASKS, &cell);
		column = paint_right(row, column, PID_WIDTH, STYLE_PLAIN, is_marked,
				     text_string(&cell));
	}
	for (size_t i = top->shift; i < layout->last; i++) {
		cell_at(rows, line, CELL_METRICS + i, &cell);
		paint_right(row, column, top->widths[i],
			    cell_style(table_at(&rows->table, line, CELL_METRICS + i)), is_marked,
			    text_string(&cell));
		column += top->widths[i] + 2;
	}
	column = paint_extras(top, rows, layout, line, column);
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
	row_history_add(&top->past, top->view.grouping, &top->moment);
	if (make_rows(top, &cells, &view, &part) == 0) {
		measure(top, &cells);
		layout.extras = choose_extras(top, &cells);
		layout.last = fitting(top, &layout.extras);
		paint_titles(top, &cells, &layout);
		for (size_t line = 0; line < part.group_count; line++)
			paint_row(top, &cells, &layout, line);
	}
	table_clear(&cells.table);
}
