/* SPDX-License-Identifier: MIT */
#include "render/sheet/sheet_view.h"

#include <errno.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"
#include "render/value.h"

static void put_row_name(struct table *table, const struct snapshot *snapshot, enum sheet_id id,
			 uint32_t key)
{
	if (id == SHEET_CGROUPS)
		put_string(table, snapshot_text(snapshot, key));
	else if (id == SHEET_PROCESSES)
		put_signed(table, snapshot->processes[key].tgid);
	else
		put_empty(table);
}

static void put_sheet(struct table *table, const struct snapshot *snapshot, enum sheet_id id,
		      uint32_t sections)
{
	const struct sheet *sheet = &snapshot->sheets[id];
	uint64_t value;

	for (uint32_t row = 0; row < sheet->row_count; row++)
		for (size_t i = 0; i < sheet->columns.count; i++) {
			const struct column *column = &sheet->columns.data[i];

			if (!(sections >> column->metric->section & 1) ||
			    column_get(column, row, &value) == CELL_ABSENT)
				continue;
			put_string(table, sheet_name(id));
			put_row_name(table, snapshot, id, sheet->keys[row]);
			put_string(table, column->metric->name);
			put_column(table, snapshot, column, row);
			put_string(table, metric_unit_name(column->metric->unit));
		}
}

static void put_facts(struct table *table, const struct snapshot *snapshot)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		if (!snapshot->facts[id].present)
			continue;
		put_string(table, "host");
		put_empty(table);
		put_string(table, facts[id].name);
		put_fact(table, snapshot, (enum fact_id)id);
		put_string(table, facts[id].is_text ? "text" : "number");
	}
}

int sheet_csv_print(const struct snapshot *snapshot, uint32_t sections, FILE *out)
{
	static const struct table_column columns[] = {
		{ .id = "table" }, { .id = "row" },  { .id = "reading" },
		{ .id = "value" }, { .id = "unit" },
	};
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	table_stream_csv(&table, out);
	if (sections >> SECTION_HOST & 1)
		put_facts(&table, snapshot);
	for (int id = 0; id < SHEET_STATES; id++)
		put_sheet(&table, snapshot, (enum sheet_id)id, sections);
	return table.failed ? -ENOMEM : 0;
}
