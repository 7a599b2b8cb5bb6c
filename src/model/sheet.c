#include "model/sheet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/dictionary.h"
#include "metric/reading.h"

void sheet_clear(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->columns.count; i++) {
		free(sheet->columns.data[i].values);
		free(sheet->columns.data[i].states);
	}
	array_free(&sheet->columns);
	free(sheet->keys);
	dictionary_free(sheet->names);
	arena_clear(&sheet->arena);
	*sheet = (struct sheet){ 0 };
}

static int grow_cells(struct sheet_column *column, size_t from, size_t to)
{
	uint64_t *values = realloc(column->values, to * sizeof(*values));
	uint8_t *states;

	if (!values)
		return -ENOMEM;
	column->values = values;
	states = realloc(column->states, to * sizeof(*states));
	if (!states)
		return -ENOMEM;
	memset(states + from, CELL_ABSENT, to - from);
	column->states = states;
	return 0;
}

static int grow_rows(struct sheet *sheet, size_t wanted)
{
	size_t from = sheet->row_capacity;
	size_t to = array_grown(from, wanted);
	uint32_t *keys = realloc(sheet->keys, to * sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	sheet->keys = keys;
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (sheet->columns.data[i].states &&
		    grow_cells(&sheet->columns.data[i], from, to) < 0)
			return -ENOMEM;
	sheet->row_capacity = to;
	return 0;
}

int sheet_add_row(struct sheet *sheet, uint32_t key, uint32_t *ret_row)
{
	if (sheet->row_count == sheet->row_capacity && grow_rows(sheet, sheet->row_count + 1) < 0)
		return -ENOMEM;
	sheet->keys[sheet->row_count] = key;
	*ret_row = (uint32_t)sheet->row_count++;
	return 0;
}

static int find_column(struct sheet *sheet, const char *name, struct sheet_column **ret)
{
	struct sheet_column column = { 0 };
	size_t length = strlen(name);
	uint32_t number;
	int status;

	if (length == 0 || length >= SHEET_NAME_SIZE)
		return -E2BIG;
	if (!sheet->names)
		sheet->names = dictionary_new();
	if (!sheet->names)
		return -ENOMEM;
	status = dictionary_add(sheet->names, name, length, &number);
	if (status < 0)
		return status;
	if (number > SHEET_COLUMNS_MAX)
		return -E2BIG;
	if (number > sheet->columns.count) {
		column.name = dictionary_text(sheet->names, number);
		if (array_append(&sheet->columns, column) < 0)
			return -ENOMEM;
	}
	*ret = &sheet->columns.data[number - 1];
	return 0;
}

int sheet_set(struct sheet *sheet, uint32_t row, const char *name, enum cell_state state,
	      uint64_t value)
{
	struct sheet_column *column;
	int status = find_column(sheet, name, &column);

	if (status < 0)
		return status;
	if (!column->states && grow_cells(column, 0, sheet->row_capacity) < 0)
		return -ENOMEM;
	column->states[row] = (uint8_t)state;
	column->values[row] = value;
	return 0;
}

static int keep_text(struct sheet *sheet, const char **place, const char *text)
{
	if (!*place)
		*place = arena_copy(&sheet->arena, text, strlen(text));
	return *place ? 0 : -ENOMEM;
}

int sheet_set_absent(struct sheet *sheet, const char *name, const char *reason)
{
	struct sheet_column *column;
	int status = find_column(sheet, name, &column);

	return status < 0 ? status : keep_text(sheet, &column->absent, reason);
}

int sheet_set_origin(struct sheet *sheet, const char *name, const char *origin)
{
	struct sheet_column *column;
	int status = find_column(sheet, name, &column);

	return status < 0 ? status : keep_text(sheet, &column->origin, origin);
}

const struct sheet_column *sheet_find(const struct sheet *sheet, const char *name)
{
	for (size_t i = 0; i < sheet->columns.count; i++)
		if (strcmp(sheet->columns.data[i].name, name) == 0)
			return &sheet->columns.data[i];
	return NULL;
}

size_t sheet_measured(const struct sheet *sheet, const struct sheet_column *column)
{
	size_t count = 0;

	for (size_t row = 0; column->states && row < sheet->row_count; row++)
		count += column->states[row] != CELL_ABSENT;
	return count;
}

static int compare_columns(const void *a, const void *b)
{
	const struct sheet_column *first = a, *second = b;

	return reading_compare(first->name, second->name);
}

/* The names get new numbers, so they move to a dictionary of their own. */
int sheet_finish(struct sheet *sheet)
{
	struct dictionary *names = dictionary_new();
	uint32_t number;

	if (!names)
		return -ENOMEM;
	if (sheet->columns.count)
		qsort(sheet->columns.data, sheet->columns.count, sizeof(struct sheet_column),
		      compare_columns);
	for (size_t i = 0; i < sheet->columns.count; i++) {
		struct sheet_column *column = &sheet->columns.data[i];

		if (dictionary_add(names, column->name, strlen(column->name), &number) < 0) {
			dictionary_free(names);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < sheet->columns.count; i++)
		sheet->columns.data[i].name = dictionary_text(names, (uint32_t)i + 1);
	dictionary_free(sheet->names);
	sheet->names = names;
	return 0;
}
