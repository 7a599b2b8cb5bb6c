/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_columns.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/dictionary.h"
#include "base/text.h"

#define CELLS_MAX ((size_t)32 * 1024 * 1024)

int cgroup_columns_open(struct cgroup_columns *columns, struct sheet *sheet)
{
	*columns = (struct cgroup_columns){ .sheet = sheet, .names = dictionary_new() };
	columns->most = CELLS_MAX / (sheet->row_count + 1);
	return columns->names ? 0 : -ENOMEM;
}

void cgroup_columns_close(struct cgroup_columns *columns)
{
	dictionary_free(columns->names);
	array_free(&columns->list);
	arena_clear(&columns->arena);
	*columns = (struct cgroup_columns){ 0 };
}

static int find_column(struct cgroup_columns *columns, const char *name, struct cgroup_column **ret)
{
	struct cgroup_column column = { 0 };
	uint32_t number;

	if (dictionary_add(columns->names, name, strlen(name), &number) < 0)
		return -ENOMEM;
	if (number > columns->most || number > SHEET_COLUMNS_MAX)
		return -E2BIG;
	if (number > columns->list.count && array_append(&columns->list, column) < 0)
		return -ENOMEM;
	*ret = &columns->list.data[number - 1];
	return 0;
}

static int keep_origin(struct cgroup_columns *columns, struct cgroup_column *column,
		       const struct cgroup_origin *origin)
{
	CLEANUP(text_free) struct text text = { 0 };

	if (!origin) {
		column->is_v2 = true;
		return 0;
	}
	if (column->origin)
		return 0;
	text_format(&text, "%s: %s%s%s", origin->hierarchy, origin->file, *origin->key ? " " : "",
		    origin->key);
	if (!text.failed)
		column->origin = arena_copy(&columns->arena, text_string(&text), text.length);
	return column->origin ? 0 : -ENOMEM;
}

int cgroup_columns_set(struct cgroup_columns *columns, uint32_t row, const char *name,
		       enum cell_state state, uint64_t value, const struct cgroup_origin *origin)
{
	struct cgroup_column *column;
	int status = find_column(columns, name, &column);

	if (status < 0 || column->latest == row + 1)
		return status;
	column->latest = row + 1;
	status = keep_origin(columns, column, origin);
	return status < 0 ? status : sheet_set(columns->sheet, row, name, state, value);
}

bool cgroup_columns_has(struct cgroup_columns *columns, uint32_t row, const char *name)
{
	struct cgroup_column *column;

	return find_column(columns, name, &column) == 0 && column->latest == row + 1;
}

int cgroup_columns_tell_origins(struct cgroup_columns *columns)
{
	CLEANUP(text_free) struct text text = { 0 };

	for (uint32_t i = 0; i < columns->list.count; i++) {
		const struct cgroup_column *column = &columns->list.data[i];

		if (!column->origin)
			continue;
		text_clear(&text);
		text_format(&text, "%s%s", column->is_v2 ? "v2, or " : "", column->origin);
		if (text.failed ||
		    sheet_set_origin(columns->sheet, dictionary_text(columns->names, i + 1),
				     text_string(&text)) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}
