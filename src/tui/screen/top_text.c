/* SPDX-License-Identifier: MIT */
/* Pages of text: the list of keys, and all about a row. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/record/record_table.h"
#include "render/table/table.h"
#include "tui/detail/process_now.h"
#include "tui/screen/top_state.h"

#define THREADS_MOST 200
#define EVENTS_MOST 20

void top_text_clear(struct text_page *page)
{
	for (size_t i = 0; i < page->lines.count; i++)
		free(page->lines.data[i]);
	array_free(&page->lines);
}

/* Lines are escaped here, since they have names of strangers in them. */
void top_text_line(struct text_page *page, const char *format, ...)
{
	CLEANUP(text_free) struct text line = { 0 };
	CLEANUP(free_pointer) char *made = NULL;
	va_list values;
	int length;

	va_start(values, format);
	length = vasprintf(&made, format, values);
	va_end(values);
	if (length < 0) {
		made = NULL;
		return;
	}
	text_append_escaped(&line, made, (size_t)length);
	free(made);
	made = strdup(text_string(&line));
	if (made && array_append(&page->lines, made) == 0)
		made = NULL;
}

void top_show_keys(struct top *top)
{
	top_text_clear(&top->text);
	top->text.is_detail = false;
	top->mode = MODE_TEXT;
	top_text_line(&top->text, "Keys (Escape leads back):");
	for (int id = 0; id < KEY_ID_COUNT; id++)
		top_text_line(&top->text, "  %-16s %s", key_table[id].keys, key_table[id].help);
}

/* A value of the task or its process as the table has it. */
static void append_value(struct top *top, const struct group *group, enum metric_id id,
			 struct text *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct snapshot_view *view = &top->view.view;
	struct fold fold;

	table_add_title(&table, "", TABLE_LEFT);
	group_fold(view->grouping, group, id, &fold);
	view_put_fold(&table, view, &fold);
	if (!table.failed)
		cell_text(out, &table, table_at(&table, 0, 0));
}

static bool has_value(struct top *top, const struct group *group, enum metric_id id)
{
	struct fold fold;

	group_fold(top->view.view.grouping, group, id, &fold);
	return fold.shape != SHAPE_ABSENT && (fold.shape != SHAPE_NUMBER || fold.number);
}

/* Several to a line, as many as fit. */
static void add_metrics(struct top *top, const struct group *group, enum metric_section section,
			const char *title)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t columns = (size_t)display_columns();

	top_text_line(&top->text, "%s", "");
	top_text_line(&top->text, "%s:", title);
	for (int id = 0; id < METRIC_COUNT; id++) {
		CLEANUP(text_free) struct text part = { 0 };

		if (metrics[id].section != section || metric_is_only_traced((enum metric_id)id) ||
		    !has_value(top, group, (enum metric_id)id))
			continue;
		text_format(&part, "  %s ", metrics[id].name);
		append_value(top, group, (enum metric_id)id, &part);
		if (line.length && line.length + part.length > columns) {
			top_text_line(&top->text, "%s", text_string(&line));
			text_clear(&line);
		}
		text_append(&line, part.data, part.length);
	}
	top_text_line(&top->text, "%s",
		      line.length ? text_string(&line) : "  nothing was measured");
}

static void add_identity(struct top *top, const struct process *process, const struct task *task)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	const struct fact *now = &snapshot->facts[FACT_boottime_ns];
	CLEANUP(text_free) struct text age = { 0 };

	if (now->present && now->number > process->start_time_ns)
		unit_format(&age, UNIT_NS, now->number - process->start_time_ns);
	top_text_line(&top->text, "%s  process %" PRId32 "%s%s",
		      snapshot_text(snapshot, process->pcomm), process->tgid,
		      age.length ? ", began before " : "", text_string(&age));
	top_text_line(&top->text, "  command  %s",
		      process->cmdline ? snapshot_text(snapshot, process->cmdline) : "-");
	top_text_line(&top->text, "  program  %s",
		      process->exe ? snapshot_text(snapshot, process->exe) : "-");
	top_text_line(&top->text, "  user     %s",
		      process->user ? snapshot_text(snapshot, process->user) : "-");
	top_text_line(&top->text, "  cgroup   %s",
		      task->cgroup ? snapshot_text(snapshot, task->cgroup) : "-");
}

/* Who started it, up to the first; a ring, which only a forged file has, ends. */
static void add_parents(struct top *top, uint32_t row)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	CLEANUP(text_free) struct text line = { 0 };

	for (int i = 0; i < 16; i++) {
		int64_t parent = snapshot_find_process(snapshot, snapshot_parent(snapshot, row));

		if (parent < 0 || (uint32_t)parent == row)
			break;
		row = (uint32_t)parent;
		text_format(&line, "%s%s[%" PRId32 "]", line.length ? " < " : "",
			    snapshot_text(snapshot, snapshot->processes[row].pcomm),
			    snapshot->processes[row].tgid);
	}
	if (line.length)
		top_text_line(&top->text, "  started by %s", text_string(&line));
}

/* Each thread with where its time went: on a CPU, waiting for one. */
static void add_threads(struct top *top, uint32_t process)
{
	static const enum metric_id shown[] = { METRIC_state, METRIC_run_time_ns,
						METRIC_wait_time_ns };
	struct grouping *grouping = top->view.view.grouping;
	const struct snapshot *snapshot = grouping->snapshot;
	uint32_t first = snapshot->processes[process].first_task, count = 0;

	top_text_line(&top->text, "%s", "");
	top_text_line(&top->text, "Threads:  state, on a CPU, waiting for one, scope");
	while (first > 0 && snapshot->tasks[first - 1].process == process)
		first--;
	for (uint32_t row = first; row < snapshot->task_count; row++) {
		CLEANUP(text_free) struct text line = { 0 };
		CLEANUP(table_clear) struct table table = { 0 };
		const struct task *task = &snapshot->tasks[row];

		if (task->process != process || count++ == THREADS_MOST)
			break;
		table_add_title(&table, "", TABLE_LEFT);
		text_format(&line, "  %7" PRId32 " %-16s", task->tid,
			    snapshot_text(snapshot, task->comm));
		for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
			struct fold fold;

			fold_init(&fold, &metrics[shown[i]]);
			fold_add_cell(&fold, snapshot, &snapshot->columns[shown[i]], row,
				      &grouping->cpu_counts);
			fold_finish(&fold);
			view_put_fold(&table, &top->view.view, &fold);
			text_append_string(&line, "  ");
			if (!table.failed)
				cell_text(&line, &table, table_at(&table, i, 0));
		}
		text_format(&line, "  %s", snapshot_text(snapshot, task->scope));
		top_text_line(&top->text, "%s", text_string(&line));
	}
}

/* Limits, use and pressure of its cgroup, as they were read. */
static void add_cgroup(struct top *top, const char *path)
{
	const struct snapshot *read = top->moment.read;
	const struct sheet *sheet = &read->sheets[SHEET_CGROUPS];

	for (uint32_t row = 0; row < sheet->row_count; row++) {
		if (strcmp(snapshot_text(read, sheet->keys[row]), path) != 0)
			continue;
		top_text_line(&top->text, "%s", "");
		top_text_line(&top->text, "Cgroup %s:", path);
		for (size_t i = 0; i < sheet->columns.count; i++) {
			const struct column *column = &sheet->columns.data[i];
			CLEANUP(text_free) struct text value = { 0 };
			uint64_t number = 0;
			enum cell_state state = column_get(column, row, &number);
			enum metric_section section = column->metric->section;

			if (state == CELL_ABSENT ||
			    (section != SECTION_CGROUPS && section != SECTION_LIMITS &&
			     section != SECTION_PRESSURE))
				continue;
			if (state == CELL_UNLIMITED)
				text_append_string(&value, UNLIMITED);
			else if (state == CELL_TEXT)
				text_append_string(&value, snapshot_text(read, (uint32_t)number));
			else
				unit_format(&value, column->metric->unit, number);
			top_text_line(&top->text, "  %-32s %s", column->metric->name,
				      text_string(&value));
		}
		return;
	}
}

static void add_events(struct top *top, int32_t pid)
{
	size_t shown = 0;

	for (size_t i = 0; i < top->moment.events.count && shown < EVENTS_MOST; i++) {
		const struct life_event *event = &top->moment.events.data[i];
		CLEANUP(text_free) struct text when = { 0 };

		if (event->task.pid != pid)
			continue;
		if (!shown++) {
			top_text_line(&top->text, "%s", "");
			top_text_line(&top->text, "Events:");
		}
		record_append_time(&when, event->unix_ns);
		top_text_line(&top->text, "  %s  %s  %s", text_string(&when),
			      life_kind_names[event->kind], event->details ? event->details : "");
	}
}

/* What is read of a living process only while somebody looks at it. */
static void add_now(struct top *top, const struct process *process)
{
	if (top->options->host && top->moment.is_live)
		process_now_add(&top->text, top->options->host, process->tgid,
				process->start_time_ns);
	else
		top_text_line(&top->text,
			      "  open files by kind, limits and stacks: only of a process of now");
}

void top_show_detail(struct top *top)
{
	int64_t row = top_find_identity(top, &top->shown);
	const struct grouping *grouping = top->view.grouping;
	const struct group *group;
	const struct task *task;

	top->mode = MODE_TEXT;
	top->text.is_detail = true;
	if (row < 0) {
		top_say(top, false, "it is not there any more: this is how it was");
		return;
	}
	group = &grouping->groups[row];
	task = &grouping->snapshot->tasks[top_task(top, (size_t)row)];
	top_text_clear(&top->text);
	if (grouping->axis == AXIS_PROCESS || grouping->axis == AXIS_THREAD) {
		add_identity(top, &grouping->snapshot->processes[task->process], task);
		add_parents(top, task->process);
		add_threads(top, task->process);
	} else {
		top_text_line(&top->text, "%s  %" PRIu32 " tasks of %" PRIu32 " processes",
			      group->key, group->tasks, group->processes);
	}
	if (grouping->axis == AXIS_PROCESS || grouping->axis == AXIS_THREAD)
		add_now(top, &grouping->snapshot->processes[task->process]);
	add_metrics(top, group, SECTION_SCHEDULING, "Scheduling");
	add_metrics(top, group, SECTION_MEMORY, "Memory");
	add_metrics(top, group, SECTION_IO, "Input and output");
	add_metrics(top, group, SECTION_DELAYS, "Delays");
	add_metrics(top, group, SECTION_SCOPES, "Scopes");
	if (task->cgroup)
		add_cgroup(top, snapshot_text(grouping->snapshot, task->cgroup));
	if (grouping->axis == AXIS_PROCESS || grouping->axis == AXIS_THREAD)
		add_events(top, grouping->snapshot->processes[task->process].tgid);
}

void top_paint_text(struct top *top, int row, int rows)
{
	struct text_page *page = &top->text;
	size_t most = rows > 0 ? (size_t)rows : 0;

	if (page->is_verb && most) {
		CLEANUP(text_free) struct text title = { 0 };

		verb_page_title(top, &title);
		display_put(row++, 0, display_columns(), STYLE_TITLES, false, text_string(&title));
		most--;
	}
	top->page = most;
	if (page->first + most > page->lines.count)
		page->first = page->lines.count > most ? page->lines.count - most : 0;
	for (size_t i = page->first; i < page->lines.count && i - page->first < most; i++) {
		const char *line = page->lines.data[i];
		bool is_title = line[0] && line[0] != ' ';

		display_put(row++, 0, display_columns(), is_title ? STYLE_HEADING : STYLE_PLAIN,
			    false, line);
	}
}
