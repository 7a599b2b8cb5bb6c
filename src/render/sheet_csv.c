/* SPDX-License-Identifier: MIT */
#include "render/sheet_csv.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/reading.h"
#include "model/snapshot.h"
#include "render/reading_value.h"
#include "render/value.h"

static void append_row_name(struct text *out, const struct snapshot *snapshot, enum sheet_id id,
			    uint32_t key)
{
	if (id == SHEET_CGROUPS)
		csv_append(out, snapshot_text(snapshot, key));
	else if (id == SHEET_PROCESSES)
		text_format(out, "%" PRId32, snapshot->processes[key].tgid);
}

static void append_line(struct text *out, const struct snapshot *snapshot, enum sheet_id id,
			const struct sheet_column *column, uint32_t row)
{
	text_format(out, "%s,", sheet_name(id));
	append_row_name(out, snapshot, id, snapshot->sheets[id].keys[row]);
	text_append_string(out, ",");
	csv_append(out, column->name);
	text_append_string(out, ",");
	reading_csv(out, snapshot, column, row);
	text_format(out, ",%s\n", metric_unit_name(reading_find(column->name)->unit));
}

static void append_sheet(struct text *out, const struct snapshot *snapshot, enum sheet_id id,
			 uint32_t sections)
{
	const struct sheet *sheet = &snapshot->sheets[id];
	uint64_t value;

	for (uint32_t row = 0; row < sheet->row_count; row++)
		for (size_t i = 0; i < sheet->columns.count; i++) {
			const struct sheet_column *column = &sheet->columns.data[i];

			if (sections >> reading_find(column->name)->section & 1 &&
			    sheet_get(column, row, &value) != CELL_ABSENT)
				append_line(out, snapshot, id, column, row);
		}
}

static void append_facts(struct text *out, const struct snapshot *snapshot)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		const struct fact *fact = &snapshot->facts[id];

		if (!fact->present)
			continue;
		text_format(out, "host,,%s,", facts[id].name);
		if (facts[id].is_text)
			csv_append(out, fact->text);
		else
			text_format(out, "%" PRIu64, fact->number);
		text_format(out, ",%s\n", facts[id].is_text ? "text" : "number");
	}
}

int sheet_csv_print(const struct snapshot *snapshot, uint32_t sections, FILE *out)
{
	CLEANUP(text_free) struct text lines = { 0 };

	text_append_string(&lines, "table,row,reading,value,unit\n");
	if (sections >> SECTION_HOST & 1)
		append_facts(&lines, snapshot);
	for (int id = 0; id < SHEET_COUNT; id++)
		append_sheet(&lines, snapshot, (enum sheet_id)id, sections);
	if (lines.failed)
		return -ENOMEM;
	fwrite(text_string(&lines), 1, lines.length, out);
	return 0;
}
