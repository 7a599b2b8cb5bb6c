/* SPDX-License-Identifier: MIT */
#include "render/sheet/sheet_view.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"
#include "render/value.h"

static const char *const resources[] = { "cpu", "memory", "io", "irq" };
static const char *const fields[] = { "some avg10", "some avg60", "some avg300", "some total",
				      "full avg10", "full avg60", "full avg300", "full total" };

/* The eight columns of a resource; NULL where the snapshot has none. */
struct resource_columns {
	const struct column *columns[ARRAY_SIZE(fields)];
};

static void find_columns(const struct sheet *sheet, const char *format, const char *resource,
			 struct resource_columns *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		CLEANUP(text_free) struct text name = { 0 };

		text_format(&name, format, resource);
		text_format(&name, " %s", fields[i]);
		ret->columns[i] = sheet_find(sheet, text_string(&name));
	}
}

static bool has_any(const struct resource_columns *columns, uint32_t row)
{
	uint64_t value;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (column_get(columns->columns[i], row, &value) != CELL_ABSENT)
			return true;
	return false;
}

static void add_cells(struct table *table, const struct snapshot *snapshot, const char *where,
		      const char *resource, const struct resource_columns *columns, uint32_t row)
{
	put_text(table, where);
	put_text(table, resource);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		put_column(table, snapshot, columns->columns[i], row);
}

static void add_host(struct table *table, const struct snapshot *snapshot)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_HOST];

	for (size_t i = 0; i < ARRAY_SIZE(resources) && sheet->row_count; i++) {
		struct resource_columns columns;

		find_columns(sheet, "pressure %s", resources[i], &columns);
		if (has_any(&columns, 0))
			add_cells(table, snapshot, "(host)", resources[i], &columns, 0);
	}
}

static void add_cgroups(struct table *table, const struct snapshot *snapshot, size_t rows)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	struct resource_columns columns[ARRAY_SIZE(resources)];

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
		find_columns(sheet, "%s.pressure", resources[i], &columns[i]);
	for (uint32_t row = 0; row < rows; row++)
		for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
			if (has_any(&columns[i], row))
				add_cells(table, snapshot,
					  snapshot_text(snapshot, sheet->keys[row]), resources[i],
					  &columns[i], row);
}

int pressure_text_print(const struct snapshot *snapshot, size_t limit,
			const struct terminal *terminal, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	size_t cgroups = snapshot->sheets[SHEET_CGROUPS].row_count;
	size_t shown = limit && limit < cgroups ? limit : cgroups;

	table_add_title(&table, "cgroup", TABLE_NAME);
	table_add_title(&table, "waits for", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		table_add_column(&table,
				 (struct table_column){
					 .title = fields[i],
					 .alignment = TABLE_RIGHT,
					 /* The longer the average, the less it says about now. */
					 .priority = i % 4,
				 });
	add_host(&table, snapshot);
	add_cgroups(&table, snapshot, shown);
	if (!table.cells.count)
		return 0;
	if (table_print(&table, terminal, out) < 0)
		return -ENOMEM;
	if (shown < cgroups)
		fprintf(out, "… %zu more cgroups (-n 0 shows all)\n", cgroups - shown);
	return 0;
}
