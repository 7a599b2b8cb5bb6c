/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_json.h"

#include <string.h>

#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/snapshot/process_json.h"
#include "render/sheet/sheet_json.h"
#include "render/snapshot/snapshot_view.h"
#include "render/table/table.h"
#include "render/value.h"

#define FORMAT_VERSION 1

static void write_host(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	json_key(json, "host");
	json_begin_object(json);
	for (int id = 0; id < FACT_COUNT; id++) {
		const struct fact *fact = &snapshot->facts[id];

		if (!fact->present)
			continue;
		if (facts[id].is_text)
			json_member_string(json, facts[id].name, fact->text ? fact->text : "");
		else
			json_member_u64(json, facts[id].name, fact->number);
	}
	if (snapshot->sheets[SHEET_HOST].row_count)
		sheet_json_row(json, snapshot, &snapshot->sheets[SHEET_HOST], 0, sections);
	json_end_object(json);
}

static void write_source(struct json *json, const struct source_report *source)
{
	json_begin_object(json);
	source_json_members(json, source);
	json_end_object(json);
}

static void write_sources(struct json *json, const struct snapshot *snapshot)
{
	json_key(json, "sources");
	json_begin_array(json);
	for (size_t i = 0; i < snapshot->source_count; i++)
		write_source(json, &snapshot->sources[i]);
	json_end_array(json);
}

static void write_absent(struct json *json, const struct snapshot_view *view)
{
	const struct snapshot *snapshot = view->grouping->snapshot;

	json_key(json, "absent");
	json_begin_object(json);
	for (size_t i = 0; i < view->metrics.count; i++) {
		enum metric_id id = view->metrics.ids[i], cause;
		const char *reason = absence_reason(snapshot, id, &cause);

		if (reason)
			json_member_string(json, metrics[id].name, reason);
	}
	json_end_object(json);
}

static void write_cell(struct json *json, const struct snapshot *snapshot, enum metric_id id,
		       uint32_t row)
{
	uint64_t value;

	if (!snapshot_get(snapshot, id, row, &value))
		return;
	json_key(json, metrics[id].name);
	cell_json(json, snapshot, &snapshot->columns[id], row);
}

static void write_derived(struct json *json, struct grouping *grouping, const struct group *group,
			  enum metric_id id)
{
	struct fold fold;

	group_fold(grouping, group, id, &fold);
	if (fold.shape == SHAPE_ABSENT)
		return;
	json_key(json, metrics[id].name);
	value_json_real(json, &fold);
}

static void write_identity(struct json *json, const struct snapshot *snapshot,
			   const struct task *task, const struct process *process)
{
	json_key(json, "tid");
	json_i64(json, task->tid);
	json_key(json, "tgid");
	json_i64(json, process->tgid);
	json_member_string(json, "comm", snapshot_text(snapshot, task->comm));
	json_member_string(json, "pcomm", snapshot_text(snapshot, process->pcomm));
	json_member_string(json, "cgroup", snapshot_text(snapshot, task->cgroup));
	json_member_u64(json, "start_time_ns", task->start_time_ns);
	if (task->scope)
		json_member_string(json, "scope", snapshot_text(snapshot, task->scope));
}

/* What concerns the whole process is written once, on the row of its first task. */
static void write_process(struct json *json, const struct snapshot *snapshot,
			  const struct process *process)
{
	if (process->cmdline)
		json_member_string(json, "cmdline", snapshot_text(snapshot, process->cmdline));
	if (process->user)
		json_member_string(json, "user", snapshot_text(snapshot, process->user));
	process_json_members(json, snapshot, process);
}

static void write_thread(struct json *json, const struct snapshot_view *view,
			 const struct group *group)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	uint32_t row = view->grouping->rows[group->first];
	const struct task *task = &snapshot->tasks[row];
	const struct process *process = &snapshot->processes[task->process];

	json_begin_object(json);
	write_identity(json, snapshot, task, process);
	if (process->first_task == row)
		write_process(json, snapshot, process);
	for (size_t i = 0; i < view->metrics.count; i++) {
		enum metric_id id = view->metrics.ids[i];

		if (metric_is_derived(id))
			write_derived(json, view->grouping, group, id);
		else if (metrics[id].scope == METRIC_OF_THREAD)
			write_cell(json, snapshot, id, row);
		else if (process->first_task == row)
			write_cell(json, snapshot, id, task->process);
	}
	json_end_object(json);
}

static void add_group_columns(struct table *table, const struct snapshot_view *view)
{
	table_add_column(table, (struct table_column){ .id = "key" });
	table_add_column(table, (struct table_column){ .id = "tasks" });
	for (size_t i = 0; i < view->metrics.count; i++)
		table_add_column(table,
				 (struct table_column){ .id = metrics[view->metrics.ids[i]].name,
							.inside = "metrics",
							.has_coverage = true });
}

static void put_group(struct table *table, const struct snapshot_view *view,
		      const struct group *group)
{
	struct fold fold;

	view_put(table, view, group, NULL, COLUMN_GROUP, FOR_PROGRAMS);
	view_put(table, view, group, NULL, COLUMN_TASKS, FOR_PROGRAMS);
	for (size_t i = 0; i < view->metrics.count; i++) {
		group_fold(view->grouping, group, view->metrics.ids[i], &fold);
		put_fold(table, &fold);
	}
}

void snapshot_json_print(const struct snapshot_view *view, FILE *out)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	bool threads = view->grouping->axis == AXIS_THREAD;
	CLEANUP(table_clear) struct table table = { 0 };
	struct json json = json_writer(out);

	add_group_columns(&table, view);
	table_stream_json(&table, &json);
	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-snapshot");
	json_member_u64(&json, "version", FORMAT_VERSION);
	write_host(&json, snapshot, view->sections);
	sheet_json_host_absent(&json, snapshot, view->sections);
	write_sources(&json, snapshot);
	json_key(&json, "capture");
	capture_json(&json, snapshot);
	write_absent(&json, view);
	json_member_string(&json, "group_by", group_axis_name(view->grouping->axis));
	json_key(&json, threads ? "threads" : "groups");
	json_begin_array(&json);
	for (size_t i = 0; i < view_shown(view); i++) {
		if (threads)
			write_thread(&json, view, &view->grouping->groups[i]);
		else
			put_group(&table, view, &view->grouping->groups[i]);
	}
	json_end_array(&json);
	if (view->sections)
		sheet_json_processes(&json, snapshot, view->sections);
	if (view->sections)
		sheet_json_cgroups(&json, snapshot, view->sections);
	json_end_object(&json);
}
