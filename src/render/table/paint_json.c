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
	CLEANUP(text_free) struct text text = { 0 };
	size_t length;

	json_begin_array(json);
	for (const char *item; (item = table_next_item(&items, &length));) {
		text_clear(&text);
		text_append(&text, item, length);
		json_string(json, text_string(&text));
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
		if (cell->unit == UNIT_BOOL)
			json_bool(json, cell->number != 0);
		else
			json_u64(json, cell->number);
		break;
	case TABLE_CELL_SIGNED:
	case TABLE_CELL_LIMITS:
		json_i64(json, cell->low);
		break;
	case TABLE_CELL_RANGE:
		json_begin_object(json);
		json_member_i64(json, "min", cell->low);
		json_member_i64(json, "max", cell->high);
		json_end_object(json);
		break;
	case TABLE_CELL_REAL:
	case TABLE_CELL_SHARE:
	case TABLE_CELL_CHANGE:
	case TABLE_CELL_PERCENT:
		json_double(json, cell->real);
		break;
	case TABLE_CELL_DELTA:
		json_difference(json, cell->high < 0, cell->number);
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
		json_member_i64(json, "min", cell->low);
		if (cell->kind == TABLE_CELL_LIMITS)
			json_member_string(json, "max", UNLIMITED);
		else
			json_member_i64(json, "max", cell->high);
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

/* At most so many words lead to a value; what follows stays in the last of them. */
#define PATH_WORDS 4
#define WORD_SIZE 128

/* The keys of nested objects, the last one being that of the value. */
struct path {
	struct {
		const char *start;
		size_t length;
	} words[PATH_WORDS];
	unsigned count;
};

static void add_words(struct path *path, const char *words)
{
	while (words && *words && path->count < PATH_WORDS) {
		bool is_last = path->count + 1 == PATH_WORDS;
		size_t length = is_last ? strlen(words) : strcspn(words, " ");

		path->words[path->count].start = words;
		path->words[path->count++].length = length;
		words += length;
		words += *words == ' ';
	}
}

/* How many objects of one path contain the value of the other one, too. */
static unsigned common_objects(const struct path *a, const struct path *b)
{
	unsigned depth = 0;

	while (depth + 1 < a->count && depth + 1 < b->count &&
	       a->words[depth].length == b->words[depth].length &&
	       memcmp(a->words[depth].start, b->words[depth].start, a->words[depth].length) == 0)
		depth++;
	return depth;
}

static void close_objects(struct json *json, const struct path *open, unsigned depth)
{
	for (; depth + 1 < open->count; depth++)
		json_end_object(json);
}

/* Closes and opens objects so that the column's key can be written; returns the key. */
static const char *move_to(struct json *json, struct path *open, const struct table_column *column)
{
	struct path next = { .count = 0 };
	unsigned depth;

	if (!column->is_nested && open->count < 2)
		return column->id;
	add_words(&next, column->inside);
	add_words(&next, column->id);
	depth = common_objects(open, &next);
	close_objects(json, open, depth);
	for (; depth + 1 < next.count; depth++) {
		char key[WORD_SIZE];

		snprintf(key, sizeof(key), "%.*s", (int)next.words[depth].length,
			 next.words[depth].start);
		json_member_object(json, key);
	}
	*open = next;
	return next.words[depth].start;
}

static void write_row(struct table *table)
{
	struct path open = { .count = 0 };
	struct json *json = table->json;

	json_begin_object(json);
	for (size_t i = 0; i < table->columns.count; i++) {
		const struct table_column *column = &table->columns.data[i];
		const struct cell *cell = table_at(table, 0, i);
		bool is_known = cell->kind != TABLE_CELL_EMPTY && cell->kind != TABLE_CELL_ABSENT;
		const char *key;

		/* An object with only absent values is absent itself, unless it has coverage. */
		if (!column->id || (!is_known && !column->has_coverage && !column->is_nullable))
			continue;
		key = move_to(json, &open, column);
		if (!is_known && !column->is_nullable)
			continue;
		json_key(json, key);
		if (column->has_coverage && is_known)
			write_covered(json, table, cell);
		else
			write_value(json, table, cell);
	}
	close_objects(json, &open, 0);
	json_end_object(json);
}

void table_stream_json(struct table *table, struct json *json)
{
	table->stream = write_row;
	table->json = json;
}
