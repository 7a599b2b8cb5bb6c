/* SPDX-License-Identifier: MIT */
/* Fills the cells of the cgroups' sheet, and keeps track of where a column's values come from. */
#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/cgroup/cgroup_reader.h"
#include "collect/collector.h"

#define CELLS_MAX ((size_t)32 * 1024 * 1024) /* a hostile tree must not make a giant table */

/* Notes where a column's value, as its file has it, is from. */
static int keep_origin(struct cgroup_reader *reader, size_t number,
		       const struct kernel_value *value)
{
	CLEANUP(text_free) struct text text = { 0 };
	struct cgroup_origin none = { 0 };
	struct cgroup_origin *origin;

	while (reader->origins.count <= number)
		if (array_append(&reader->origins, none) < 0)
			return -ENOMEM;
	origin = &reader->origins.data[number];
	origin->is_v2 |= !reader->v1;
	if (!reader->v1 || origin->v1)
		return 0;
	text_format(&text, "%s: %s", reader->trees.trees[reader->v1->hierarchy].name,
		    reader->v1->name);
	if (reader->v1->format == KERNEL_KEYS)
		text_format(&text, " %s", value->key);
	if (!text.failed)
		origin->v1 = arena_copy(&reader->capture->snapshot->arena, text_string(&text),
					text.length);
	return origin->v1 ? 0 : -ENOMEM;
}

int cgroup_reader_note_origins(struct cgroup_reader *reader)
{
	CLEANUP(text_free) struct text text = { 0 };

	for (size_t i = 0; i < reader->origins.count; i++) {
		const struct cgroup_origin *origin = &reader->origins.data[i];
		const char *name = reader->sheet->columns.data[i].metric->name;

		if (!origin->v1)
			continue;
		text_clear(&text);
		text_format(&text, "%s%s", origin->is_v2 ? "v2, or " : "", origin->v1);
		if (text.failed ||
		    sheet_set_origin(reader->sheet, name, text_string(&text)) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

bool cgroup_reader_has(const struct cgroup_reader *reader, const char *name)
{
	uint64_t value;

	return column_get(sheet_find(reader->sheet, name), reader->sheet_row, &value) !=
	       CELL_ABSENT;
}

/* Sets an empty cell of a column, which is NULL when it is new. */
static int set_cell(struct cgroup_reader *reader, const struct column *column, const char *name,
		    enum cell_state state, uint64_t number)
{
	const struct sheet *sheet = reader->sheet;

	if (!column && sheet->columns.count >= CELLS_MAX / (sheet->row_count + 1))
		return -E2BIG;
	return sheet_set(reader->sheet, reader->sheet_row, name, state, number);
}

int cgroup_reader_store(struct cgroup_reader *reader, const char *name,
			const struct kernel_value *value, const struct kernel_value *from)
{
	const struct column *column = sheet_find(reader->sheet, name);
	uint64_t number;
	uint32_t text;
	int status = 0;

	if (column_get(column, reader->sheet_row, &number) != CELL_ABSENT)
		return 0;
	number = value->number;
	if (value->state == CELL_TEXT) {
		status = snapshot_intern(reader->capture->snapshot, value->text, value->length,
					 &text);
		number = text;
	}
	if (status == 0)
		status = set_cell(reader, column, name, value->state, number);
	if (status == -E2BIG) {
		source_count(reader->tally, status);
		return 0;
	}
	if (status < 0)
		return status;
	return keep_origin(reader,
			   column ? (size_t)(column - reader->sheet->columns.data) :
				    reader->sheet->columns.count - 1,
			   from);
}
