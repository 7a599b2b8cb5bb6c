/* SPDX-License-Identifier: MIT */
#include "store/run/replay/run_states.h"

#include "store/run/run_json.h"
#include "store/run/run_json_parts.h"

const struct state_sheet state_sheets[STATE_SHEETS] = {
	{ "host_begin", SHEET_HOST_BEGIN },
	{ "host", SHEET_HOST },
	{ "cgroups_begin", SHEET_CGROUPS_BEGIN },
	{ "cgroups", SHEET_CGROUPS },
};

static void write_cell(struct json *json, const struct snapshot *snapshot,
		       const struct column *column, uint32_t row)
{
	const char *name = column->metric->name;
	uint64_t value;

	switch (column_get(column, row, &value)) {
	case CELL_NUMBER:
		json_member_i64(json, name, (int64_t)value);
		break;
	case CELL_UNLIMITED:
		json_member_string(json, name, STATE_UNLIMITED);
		break;
	case CELL_TEXT:
		json_member_string(json, name, snapshot_text(snapshot, (uint32_t)value));
		break;
	default:
		break;
	}
}

static void write_row(struct json *json, const struct snapshot *snapshot, const struct sheet *sheet,
		      uint32_t row)
{
	json_begin_object(json);
	if (sheet->keys[row])
		json_member_string(json, "path", snapshot_text(snapshot, sheet->keys[row]));
	json_member_object(json, "readings");
	for (size_t i = 0; i < sheet->columns.count; i++)
		write_cell(json, snapshot, &sheet->columns.data[i], row);
	json_end_object(json);
	json_end_object(json);
}

void run_json_sheet(struct json *json, const char *key, const struct snapshot *snapshot,
		    const struct sheet *sheet)
{
	json_member_object(json, key);
	json_member_array(json, "rows");
	for (uint32_t row = 0; row < sheet->row_count; row++)
		write_row(json, snapshot, sheet, row);
	json_end_array(json);
	json_member_object(json, "absent");
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (sheet->columns.data[i].absent)
			json_member_string(json, sheet->columns.data[i].metric->name,
					   sheet->columns.data[i].absent);
	json_end_object(json);
	json_member_object(json, "origins");
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (sheet->columns.data[i].origin)
			json_member_string(json, sheet->columns.data[i].metric->name,
					   sheet->columns.data[i].origin);
	json_end_object(json);
	json_end_object(json);
}

void run_json_states(FILE *out, const struct run *run)
{
	struct json json = run_json_begin(out, "states", run_unix_ns(run, run->end_ns));

	for (size_t i = 0; i < STATE_SHEETS; i++)
		run_json_sheet(&json, state_sheets[i].key, run->states,
			       &run->states->sheets[state_sheets[i].id]);
	json_end_object(&json);
}
