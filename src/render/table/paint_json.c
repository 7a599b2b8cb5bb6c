/* SPDX-License-Identifier: MIT */
/* Paints rows as objects: stored units, bare numbers; what is absent has no key, or null. */
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "render/table/table.h"

static void write_category(struct json *json, const struct cell *cell)
{
	char buffer[32];

	if (cell->unit == UNIT_BOOL)
		json_bool(json, cell->number != 0);
	else
		json_string(json, metric_category_text(cell->unit, cell->number, buffer));
}

static void write_list(struct json *json, const char *items)
{
	CLEANUP(text_free) struct text item = { 0 };

	json_begin_array(json);
	while (*items) {
		size_t length = strcspn(items, "\n");

		text_clear(&item);
		text_append(&item, items, length);
		json_string(json, text_string(&item));
		items += length + (items[length] == '\n');
	}
	json_end_array(json);
}

static void write_value(struct json *json, const struct table *table, const struct cell *cell)
{
	switch ((enum cell_kind)cell->kind) {
	case TABLE_CELL_EMPTY:
	case TABLE_CELL_ABSENT:
		json_null(json);
		break;
	case TABLE_CELL_NUMBER:
		json_u64(json, cell->number);
		break;
	case TABLE_CELL_SIGNED:
	case TABLE_CELL_RANGE:
	case TABLE_CELL_LIMITS:
		json_i64(json, cell->low);
		break;
	case TABLE_CELL_REAL:
	case TABLE_CELL_SHARE:
		json_double(json, cell->real);
		break;
	case TABLE_CELL_TEXT:
	case TABLE_CELL_CPUS:
		json_string(json, table_text(table, cell));
		break;
	case TABLE_CELL_LIST:
		write_list(json, table_text(table, cell));
		break;
	case TABLE_CELL_FLAG:
		json_bool(json, cell->number != 0);
		break;
	case TABLE_CELL_UNLIMITED:
		json_string(json, UNLIMITED);
		break;
	case TABLE_CELL_CATEGORY:
		write_category(json, cell);
		break;
	}
}

/* Writes the members of a value's object: the group's value, and how many were measured. */
static void write_covered(struct json *json, const struct table *table, const struct cell *cell)
{
	const char *text = table_text(table, cell);

	json_begin_object(json);
	switch ((enum cell_kind)cell->kind) {
	case TABLE_CELL_CATEGORY:
	case TABLE_CELL_TEXT:
		json_key(json, "mode");
		write_value(json, table, cell);
		json_member_u64(json, "count", cell->count);
		break;
	case TABLE_CELL_RANGE:
	case TABLE_CELL_LIMITS:
	case TABLE_CELL_CPUS:
		json_key(json, "min");
		json_i64(json, cell->low);
		json_key(json, "max");
		if (cell->kind == TABLE_CELL_LIMITS)
			json_string(json, UNLIMITED);
		else
			json_i64(json, cell->high);
		if (text[0])
			json_member_string(json, "list", text);
		break;
	default:
		json_key(json, "value");
		write_value(json, table, cell);
		break;
	}
	json_member_u64(json, "measured", cell->measured);
	json_end_object(json);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Closes the open member, and opens the one that the column is in. */
static void move_inside(struct json *json, const char **open, const char *inside)
{
	if (is_same(*open, inside))
		return;
	if (*open)
		json_end_object(json);
	if (inside) {
		json_key(json, inside);
		json_begin_object(json);
	}
	*open = inside;
}

static void write_row(struct table *table)
{
	struct json *json = table->json;
	const char *open = NULL;

	json_begin_object(json);
	for (size_t i = 0; i < table->columns.count; i++) {
		const struct table_column *column = &table->columns.data[i];
		const struct cell *cell = table_at(table, 0, i);
		bool is_known = cell->kind != TABLE_CELL_EMPTY && cell->kind != TABLE_CELL_ABSENT;

		if (!column->id)
			continue;
		/* A member with only absent values is absent itself. */
		if (!column->inside || column->has_coverage || cell->kind != TABLE_CELL_ABSENT)
			move_inside(json, &open, column->inside);
		if (!is_known && !column->is_nullable)
			continue;
		json_key(json, column->id);
		if (column->has_coverage && is_known)
			write_covered(json, table, cell);
		else
			write_value(json, table, cell);
	}
	move_inside(json, &open, NULL);
	json_end_object(json);
}

void table_stream_json(struct table *table, struct json *json)
{
	table->stream = write_row;
	table->json = json;
}
