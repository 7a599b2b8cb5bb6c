/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_view.h"

#include "analyze/group/container.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/sheet/sheet_view.h"
#include "render/table/table.h"
#include "render/value.h"

#define FORMAT_VERSION 1

static void write_host(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_HOST];
	CLEANUP(table_clear) struct table table = { 0 };

	for (int id = 0; id < FACT_COUNT; id++)
		table_add_column(&table, (struct table_column){ .id = facts[id].name });
	if (sheet->row_count)
		sheet_add_columns(&table, sheet, sections);
	table_stream_json(&table, json);
	json_key(json, "host");
	for (int id = 0; id < FACT_COUNT; id++)
		put_fact(&table, snapshot, (enum fact_id)id);
	if (sheet->row_count)
		sheet_put_row(&table, snapshot, sheet, 0, sections);
}

static void write_source(struct json *json, const struct source_report *source)
{
	json_begin_object(json);
	source_json_members(json, source);
	json_end_object(json);
}

static void write_sources(struct json *json, const struct snapshot *snapshot)
{
	json_member_array(json, "sources");
	for (size_t i = 0; i < snapshot->source_count; i++)
		write_source(json, &snapshot->sources[i]);
	json_end_array(json);
}

static void write_absent(struct json *json, const struct snapshot_view *view)
{
	const struct snapshot *snapshot = view->grouping->snapshot;

	json_member_object(json, "absent");
	for (size_t i = 0; i < view->metrics.count; i++) {
		enum metric_id id = view->metrics.ids[i], cause;
		const char *reason = absence_reason(snapshot, id, &cause);

		if (reason)
			json_member_string(json, metrics[id].name, reason);
	}
	json_end_object(json);
}

/* What concerns the whole process is written once, on the row of its first task. */
static const struct table_column process_columns[] = {
	/* clang-format off */
	{ .id = "cmdline" },
	{ .id = "user" },
	{ .id = "exe" },
	{ .id = "runtime", .inside = "container" },
	{ .id = "id",      .inside = "container" },
	{ .id = "pod",     .inside = "container" },
	{ .id = "unit" },
	/* clang-format on */
};

static void put_process(struct table *table, const struct snapshot *snapshot,
			const struct process *process)
{
	const struct task *task = &snapshot->tasks[process->first_task];
	const uint32_t texts[] = { process->cmdline, process->user, process->exe };
	struct container container;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i])
			put_text(table, snapshot_text(snapshot, texts[i]));
		else
			put_absent(table, NULL);
	}
	container_find(snapshot_text(snapshot, task->cgroup), &container);
	put_string(table, container.runtime);
	put_string(table, container.runtime ? container.id : NULL);
	put_string(table, container.pod);
	put_string(table, container.unit);
}

static void put_value(struct table *table, const struct snapshot_view *view,
		      const struct group *group, enum metric_id id)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	uint32_t row = view->grouping->rows[group->first];
	uint32_t process = snapshot->tasks[row].process;
	struct fold fold;

	if (metric_is_derived(id) || snapshot->interval_ns) {
		group_fold(view->grouping, group, id, &fold);
		view_put_fold(table, view, &fold);
	} else if (metrics[id].scope == METRIC_OF_THREAD) {
		put_column(table, snapshot, &snapshot->columns[id], row);
	} else if (snapshot->processes[process].first_task == row) {
		put_column(table, snapshot, &snapshot->columns[id], process);
	} else {
		put_absent(table, NULL);
	}
}

static void put_thread(struct table *table, const struct snapshot_view *view,
		       const struct group *group)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	uint32_t row = view->grouping->rows[group->first];
	const struct process *process = &snapshot->processes[snapshot->tasks[row].process];

	view_put_identity(table, snapshot, row);
	if (process->first_task == row)
		put_process(table, snapshot, process);
	for (size_t i = 0; i < ARRAY_SIZE(process_columns) && process->first_task != row; i++)
		put_absent(table, NULL);
	for (size_t i = 0; i < view->metrics.count; i++)
		put_value(table, view, group, view->metrics.ids[i]);
}

static void write_threads(struct json *json, const struct snapshot_view *view)
{
	CLEANUP(table_clear) struct table table = { 0 };

	view_add_identity(&table);
	table_add_columns(&table, process_columns, ARRAY_SIZE(process_columns));
	for (size_t i = 0; i < view->metrics.count; i++)
		table_add_column(&table,
				 (struct table_column){ .id = metrics[view->metrics.ids[i]].name });
	table_stream_json(&table, json);
	json_member_array(json, "threads");
	for (size_t i = 0; i < view_shown(view); i++)
		put_thread(&table, view, &view->grouping->groups[i]);
	json_end_array(json);
}

static void write_groups(struct json *json, const struct snapshot_view *view)
{
	struct view_rows rows;

	view_rows_init(&rows, view, &view->metrics, false);
	if (!rows.table.failed)
		rows.table.columns.data[0].id = "key";
	table_stream_json(&rows.table, json);
	json_member_array(json, "groups");
	view_rows_put_all(&rows);
	json_end_array(json);
	table_clear(&rows.table);
}

void snapshot_json_groups(struct json *json, const struct snapshot_view *view)
{
	filter_json(json, &view->grouping->snapshot->filter);
	write_absent(json, view);
	json_member_string(json, "group_by", group_axis_name(view->grouping->axis));
	if (view->grouping->axis == AXIS_THREAD)
		write_threads(json, view);
	else
		write_groups(json, view);
}

void snapshot_json_print(const struct snapshot_view *view, FILE *out)
{
	const struct snapshot *snapshot = view->grouping->snapshot;
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-snapshot");
	json_member_u64(&json, "version", FORMAT_VERSION);
	json_member_nonzero(&json, "interval_ns", snapshot->interval_ns);
	write_host(&json, snapshot, view->sections);
	sheet_json_host_absent(&json, snapshot, view->sections);
	write_sources(&json, snapshot);
	json_key(&json, "capture");
	capture_json(&json, snapshot);
	snapshot_json_groups(&json, view);
	if (view->sections) {
		sheet_json_processes(&json, snapshot, view->sections);
		sheet_json_cgroups(&json, snapshot, view->sections);
	}
	json_end_object(&json);
}
