/* SPDX-License-Identifier: MIT */
/*
 * All about a row: who it is, what is around it, and where its time goes, from the moment, from files that
 * are read while it is open (process_now.h), and from other verbs (asked.h).
 */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/record/record_table.h"
#include "render/table/table.h"
#include "tui/detail/cgroup_part.h"
#include "tui/detail/process_now.h"
#include "tui/screen/top_state.h"

#define THREADS_MOST 200
#define WAITS_MOST 40
#define CHILDREN_MOST 20
#define EVENTS_MOST 20
#define LABELS 11 /* columns of the words before what is said of a process */

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

/* Several to a line, as many as fit; a section of which nothing was measured is left out. */
static void add_metrics(struct top *top, const struct group *group, enum metric_section section,
			const char *title)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t columns = (size_t)display_columns(), count = 0;

	for (int id = 0; id < METRIC_COUNT; id++) {
		CLEANUP(text_free) struct text part = { 0 };

		if (metrics[id].section != section || metric_is_only_traced((enum metric_id)id) ||
		    !has_value(top, group, (enum metric_id)id))
			continue;
		if (!count++) {
			top_text_line(&top->text, "%s", "");
			top_text_line(&top->text, "%s:", title);
		}
		text_format(&part, "  %s ", metrics[id].name);
		append_value(top, group, (enum metric_id)id, &part);
		if (line.length && line.length + part.length > columns) {
			top_text_line(&top->text, "%s", text_string(&line));
			text_clear(&line);
		}
		text_append(&line, part.data, part.length);
	}
	if (line.length)
		top_text_line(&top->text, "%s", text_string(&line));
}

static void add_identity(struct top *top, const struct process *process, const struct task *task)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	const struct fact *now = &snapshot->facts[FACT_boottime_ns];
	CLEANUP(text_free) struct text age = { 0 };

	if (now->present && now->number > process->start_time_ns)
		unit_format(&age, UNIT_NS, now->number - process->start_time_ns);
	top_text_line(&top->text, "%s  process %" PRId32 "%s%s%s",
		      snapshot_text(snapshot, process->pcomm), process->tgid,
		      age.length ? ", began " : "", text_string(&age), age.length ? " ago" : "");
	top_text_words(&top->text, LABELS, "  command  %s",
		       process->cmdline ? snapshot_text(snapshot, process->cmdline) : "-");
	top_text_words(&top->text, LABELS, "  program  %s",
		       process->exe ? snapshot_text(snapshot, process->exe) : "-");
	top_text_line(&top->text, "  user     %s",
		      process->user ? snapshot_text(snapshot, process->user) : "-");
	top_text_words(&top->text, LABELS, "  cgroup   %s",
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
		top_text_words(&top->text, LABELS, "  started by %s", text_string(&line));
}

/* Whom it started, those that still live. */
static void add_children(struct top *top, int32_t pid)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	CLEANUP(text_free) struct text line = { 0 };
	size_t count = 0;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];

		if (snapshot_parent(snapshot, row) != pid || process->tgid == pid)
			continue;
		if (count++ < CHILDREN_MOST)
			text_format(&line, "%s%s[%" PRId32 "]", line.length ? ", " : "",
				    snapshot_text(snapshot, process->pcomm), process->tgid);
	}
	if (count > CHILDREN_MOST)
		text_format(&line, " and %zu more", count - CHILDREN_MOST);
	if (count)
		top_text_words(&top->text, LABELS, "  started  %s", text_string(&line));
}

/* What a thread waits for; of many threads only the first ones are looked up. */
static const char *wait_of(struct top *top, const struct process *process, const struct task *task,
			   uint32_t number)
{
	const struct task_key key = { process->tgid, task->tid, task->start_time_ns };
	bool may_read = number < WAITS_MOST && !top->is_paused;
	const char *what = moment_source_wait(top->options->source, &top->moment, &key, may_read);

	return what[0] ? what : "-";
}

static void append_right(struct text *line, const char *value, size_t width)
{
	for (size_t taken = text_width(value); taken < width; taken++)
		text_append_string(line, " ");
	text_append_string(line, value);
}

static void append_cell(struct top *top, uint32_t row, enum metric_id id, struct text *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct grouping *grouping = top->view.view.grouping;
	const struct snapshot *snapshot = grouping->snapshot;
	struct fold fold;

	table_add_title(&table, "", TABLE_LEFT);
	fold_init(&fold, &metrics[id]);
	fold_add_cell(&fold, snapshot, &snapshot->columns[id], row, &grouping->cpu_counts);
	fold_finish(&fold);
	view_put_fold(&table, &top->view.view, &fold);
	if (!table.failed)
		cell_text(out, &table, table_at(&table, 0, 0));
}

static void add_thread(struct top *top, uint32_t row, uint32_t number)
{
	static const struct {
		enum metric_id metric;
		size_t width;
	} shown[] = { { METRIC_state, 3 }, { METRIC_run_time_ns, 9 }, { METRIC_wait_time_ns, 9 } };
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	const struct task *task = &snapshot->tasks[row];
	const struct process *process = &snapshot->processes[task->process];
	CLEANUP(text_free) struct text line = { 0 };

	text_format(&line, "  %7" PRId32 " %-16s", task->tid, snapshot_text(snapshot, task->comm));
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		CLEANUP(text_free) struct text value = { 0 };

		append_cell(top, row, shown[i].metric, &value);
		append_right(&line, text_string(&value), shown[i].width);
	}
	text_format(&line, "  %-10s  %s", wait_of(top, process, task, number),
		    snapshot_text(snapshot, task->scope));
	top_text_line(&top->text, "%s", text_string(&line));
}

/* Each thread with where its time goes: on a CPU, waiting for one, and what for else. */
static void add_threads(struct top *top, uint32_t process)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	uint32_t row = snapshot->processes[process].first_task, count = 0;

	top_text_line(&top->text, "%s", "");
	top_text_line(&top->text,
		      "Threads:                    S   on CPU    ready  waits for   scope");
	while (row > 0 && snapshot->tasks[row - 1].process == process)
		row--;
	for (; row < snapshot->task_count && snapshot->tasks[row].process == process; row++)
		if (count++ < THREADS_MOST)
			add_thread(top, row, count);
	if (count > THREADS_MOST)
		top_text_line(&top->text, "  and %" PRIu32 " more", count - THREADS_MOST);
}

/* Another process may have had the number; of some events the start is not known. */
static bool is_of(const struct life_event *event, const struct process *process)
{
	return event->task.pid == process->tgid &&
	       (!event->task.start_ns || event->task.start_ns == process->start_time_ns);
}

static void add_events(struct top *top, const struct process *process)
{
	size_t shown = 0;

	for (size_t i = 0; i < top->moment.events.count && shown < EVENTS_MOST; i++) {
		const struct life_event *event = &top->moment.events.data[i];
		CLEANUP(text_free) struct text when = { 0 };

		if (!is_of(event, process))
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
		process_now_add(top, process->tgid, process->start_time_ns);
	else
		top_text_line(
			&top->text,
			"  open files by kind, limits and memory by kind: only of a process of now");
}

static void add_process(struct top *top, const struct group *group, const struct task *task)
{
	const struct process *process = &top->view.grouping->snapshot->processes[task->process];

	add_identity(top, process, task);
	add_parents(top, task->process);
	add_children(top, process->tgid);
	graphs_add(top, process, group);
	add_threads(top, task->process);
	add_now(top, process);
	asked_add(top, process);
}

void top_show_detail(struct top *top)
{
	static const struct {
		enum metric_section section;
		const char *title;
	} sections[] = {
		{ SECTION_SCHEDULING, "Scheduling" },
		{ SECTION_MEMORY, "Memory" },
		{ SECTION_HEAP, "Heap" },
		{ SECTION_IO, "Input and output" },
		{ SECTION_DELAYS, "Delays" },
		{ SECTION_WAITS, "Waits" },
		{ SECTION_SCOPES, "Scopes" },
	};
	int64_t row = top_find_identity(top, &top->shown);
	const struct grouping *grouping = top->view.grouping;
	const struct group *group;
	const struct task *task;
	bool is_process;

	top->mode = MODE_TEXT;
	top->text.is_detail = true;
	if (row < 0) {
		asked_leave(top);
		top_say(top, false, "it is not there: this is how it was when it was seen last");
		return;
	}
	is_process = grouping->axis == AXIS_PROCESS || grouping->axis == AXIS_THREAD;
	group = &grouping->groups[row];
	task = &grouping->snapshot->tasks[top_task(top, (size_t)row)];
	top_text_clear(&top->text);
	if (is_process)
		add_process(top, group, task);
	else
		top_text_line(&top->text, "%s  %" PRIu32 " tasks of %" PRIu32 " processes",
			      group->key, group->tasks, group->processes);
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		add_metrics(top, group, sections[i].section, sections[i].title);
	if (task->cgroup)
		cgroup_part_add(top, snapshot_text(grouping->snapshot, task->cgroup));
	if (is_process)
		add_events(top, &grouping->snapshot->processes[task->process]);
}
