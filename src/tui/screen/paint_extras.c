/* SPDX-License-Identifier: MIT */
#include "tui/screen/paint_extras.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"
#include "tui/screen/top_state.h"

#define WAIT_WIDTH 12
#define STATE_WIDTH 1 /* of a narrow screen, which shows no more of the wait */
#define PROGRESS_WIDTH 34

bool extras_have_room(void)
{
	return display_columns() >= 32;
}

void extras_cell(const struct view_rows *rows, size_t row, size_t column, struct text *out)
{
	text_clear(out);
	cell_text(out, &rows->table, table_at(&rows->table, row, column));
}

static bool shows_scopes(const struct view_rows *rows)
{
	for (size_t row = 0; row < table_rows(&rows->table); row++)
		if (table_at(&rows->table, row, CELL_SCOPE)->kind == TABLE_CELL_TEXT)
			return true;
	return false;
}

struct extras extras_choose(const struct top *top, const struct view_rows *rows)
{
	const struct moment_source_kind *kind = top->options->source->kind;
	bool has_moments = kind->is_live || kind->can_move;
	int columns = display_columns();

	return (struct extras){
		.has_graph = has_moments && columns >= 64,
		.wait_width = !extras_have_room()	   ? 0 :
			      has_moments && columns >= 76 ? WAIT_WIDTH :
							     STATE_WIDTH,
		.has_progress = top->choice.axis == AXIS_SCOPE && columns >= 60,
		.scope_width =
			top->choice.axis != AXIS_SCOPE && shows_scopes(rows) ? NAME_LEAST : 0,
	};
}

int extras_width(const struct extras *extras)
{
	return (extras->has_graph ? ROW_MOMENTS + 1 : 0) +
	       (extras->wait_width ? extras->wait_width + 1 : 0) +
	       (extras->has_progress ? PROGRESS_WIDTH + 1 : 0) +
	       (extras->scope_width ? extras->scope_width + 1 : 0);
}

int extras_paint_titles(int row, int column, const struct extras *extras)
{
	const struct {
		bool is_shown;
		int width;
		const char *title;
	} titles[] = {
		{ extras->has_graph, ROW_MOMENTS, "PAST CPU" },
		{ extras->wait_width > 0, extras->wait_width,
		  extras->wait_width > STATE_WIDTH ? "S WAITS FOR" : "S" },
		{ extras->has_progress, PROGRESS_WIDTH, "PROGRESS" },
		{ extras->scope_width > 0, extras->scope_width, "SCOPE" },
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
static enum style append_wait(struct top *top, const struct group *group, int width,
			      struct text *out)
{
	CLEANUP(text_free) struct text count = { 0 };
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
	if (thread.count > 1)
		text_format(&count, " x%" PRIu32, thread.count);
	if (what[0] && width > (int)count.length + 2) {
		CLEANUP(text_free) struct text name = { 0 };

		text_append_escaped(&name, what, strlen(what));
		text_append_string(out, " ");
		text_append_start(out, text_string(&name), (size_t)width - count.length - 2);
	}
	text_append_string(out, text_string(&count));
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

			if (ns > (double)left_ns && ns < (double)UINT64_MAX)
				left_ns = (uint64_t)ns;
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

int extras_paint(struct top *top, const struct view_rows *rows, const struct extras *extras,
		 int row, size_t line, int column)
{
	CLEANUP(text_free) struct text cell = { 0 };
	size_t number = top->first + line;
	const struct group *group = &top->view.grouping->groups[number];
	bool is_marked = number == top->selected;
	enum style style;

	if (extras->has_graph) {
		row_history_graph(&top->past, top->view.grouping, number, display_has_blocks(),
				  &cell);
		display_put(row, column, ROW_MOMENTS, STYLE_GOOD, is_marked, text_string(&cell));
		column += ROW_MOMENTS + 1;
	}
	if (extras->wait_width) {
		text_clear(&cell);
		style = append_wait(top, group, extras->wait_width, &cell);
		display_put(row, column, extras->wait_width, style, is_marked, text_string(&cell));
		column += extras->wait_width + 1;
	}
	if (extras->has_progress) {
		text_clear(&cell);
		style = append_scope_progress(top, group, &cell);
		display_put(row, column, PROGRESS_WIDTH, style, is_marked, text_string(&cell));
		column += PROGRESS_WIDTH + 1;
	}
	if (extras->scope_width) {
		extras_cell(rows, line, CELL_SCOPE, &cell);
		display_put_name(row, column, extras->scope_width, is_marked, text_string(&cell));
		column += extras->scope_width + 1;
	}
	return column;
}
