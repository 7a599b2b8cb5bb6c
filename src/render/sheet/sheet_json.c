/* SPDX-License-Identifier: MIT */
#include "render/sheet/sheet_view.h"

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"
#include "render/value.h"

static bool is_wanted(const struct column *column, uint32_t sections)
{
	return sections >> column->metric->section & 1;
}

void sheet_add_columns(struct table *table, const struct sheet *sheet, uint32_t sections)
{
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (is_wanted(&sheet->columns.data[i], sections))
			table_add_column(
				table,
				(struct table_column){ .id = sheet->columns.data[i].metric->name });
}

void sheet_put_row(struct table *table, const struct snapshot *snapshot, const struct sheet *sheet,
		   uint32_t row, uint32_t sections)
{
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (is_wanted(&sheet->columns.data[i], sections))
			put_column(table, snapshot, &sheet->columns.data[i], row);
}

static const char *column_absent(const struct column *column)
{
	return column->absent;
}

static const char *column_origin(const struct column *column)
{
	return column->origin;
}

static void write_notes(struct json *json, const char *key, const struct sheet *sheet,
			uint32_t sections, const char *(*note)(const struct column *column))
{
	json_member_object(json, key);
	for (size_t i = 0; i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (note(column) && is_wanted(column, sections))
			json_member_string(json, column->metric->name, note(column));
	}
	json_end_object(json);
}

void sheet_json_cgroups(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_column(&table, (struct table_column){ .id = "path" });
	sheet_add_columns(&table, sheet, sections);
	table_stream_json(&table, json);
	json_member_array(json, "cgroups");
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		put_text(&table, snapshot_text(snapshot, sheet->keys[row]));
		sheet_put_row(&table, snapshot, sheet, row, sections);
	}
	json_end_array(json);
	write_notes(json, "cgroup_origins", sheet, sections, column_origin);
	sheet_json_cgroup_absent(json, snapshot, sections);
}

void sheet_json_cgroup_absent(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	write_notes(json, "cgroup_absent", &snapshot->sheets[SHEET_CGROUPS], sections,
		    column_absent);
}

void sheet_json_processes(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	static const struct table_column identity[] = { { .id = "tgid" },
							{ .id = "pcomm" },
							{ .id = "start_time_ns" } };
	const struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_columns(&table, identity, ARRAY_SIZE(identity));
	sheet_add_columns(&table, sheet, sections);
	table_stream_json(&table, json);
	json_member_array(json, "processes");
	for (uint32_t row = 0; row < sheet->row_count; row++) {
		const struct process *process = &snapshot->processes[sheet->keys[row]];

		put_signed(&table, process->tgid);
		put_text(&table, snapshot_text(snapshot, process->pcomm));
		put_number(&table, process->start_time_ns);
		sheet_put_row(&table, snapshot, sheet, row, sections);
	}
	json_end_array(json);
}

void sheet_json_host_absent(struct json *json, const struct snapshot *snapshot, uint32_t sections)
{
	write_notes(json, "host_absent", &snapshot->sheets[SHEET_HOST], sections, column_absent);
}
