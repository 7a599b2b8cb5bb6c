/* SPDX-License-Identifier: MIT */
#include "model/sheet.h"

#include <errno.h>
#include <stdio.h>
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

/* Deeper names than that are ordered by their last word. */
#define LEVELS 4

/*
 * Where a column belongs: its family's place in readings.def, then for each of
 * its words the place where the family's name up to there was met first.  So what
 * shares words stands together, in the order in which the kernel told it; and
 * what is in that order already stays in it, so a file that is read and written
 * again is the same file.
 */
struct place {
	struct sheet_column column;
	size_t family;
	uint32_t levels[LEVELS];
};

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	if (first->family != second->family)
		return first->family < second->family ? -1 : 1;
	for (int level = 0; level < LEVELS; level++)
		if (first->levels[level] != second->levels[level])
			return first->levels[level] < second->levels[level] ? -1 : 1;
	return 0;
}

static int find_place(struct dictionary *prefixes, const struct sheet_column *column,
		      struct place *ret)
{
	char name[SHEET_NAME_SIZE + 24]; /* the family is its first word */
	size_t length;
	int status = 0;

	*ret = (struct place){ .column = *column, .family = reading_family(column->name) };
	length = (size_t)snprintf(name, sizeof(name), "%zu ", ret->family);
	snprintf(name + length, sizeof(name) - length, "%s", column->name);
	for (int level = 0; level < LEVELS && name[length] && status == 0; level++) {
		length += name[length] == ' ';
		length += level + 1 < LEVELS ? strcspn(name + length, " ") : strlen(name + length);
		status = dictionary_add(prefixes, name, length, &ret->levels[level]);
	}
	return status;
}

static int order_columns(struct sheet *sheet)
{
	size_t count = sheet->columns.count;
	struct dictionary *prefixes = dictionary_new();
	struct place *places = calloc(count + 1, sizeof(*places));
	int status = prefixes && places ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && status == 0; i++)
		status = find_place(prefixes, &sheet->columns.data[i], &places[i]);
	if (status == 0)
		qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count && status == 0; i++)
		sheet->columns.data[i] = places[i].column;
	free(places);
	dictionary_free(prefixes);
	return status;
}

/* Numbers follow the order, so the names move to a new dictionary. */
static int number_columns(struct sheet *sheet)
{
	struct dictionary *names = dictionary_new();
	uint32_t number;
	int status = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < sheet->columns.count && status == 0; i++)
		status = dictionary_add(names, sheet->columns.data[i].name,
					strlen(sheet->columns.data[i].name), &number);
	if (status < 0) {
		dictionary_free(names);
		return status;
	}
	for (size_t i = 0; i < sheet->columns.count; i++)
		sheet->columns.data[i].name = dictionary_text(names, (uint32_t)i + 1);
	dictionary_free(sheet->names);
	sheet->names = names;
	return 0;
}

int sheet_finish(struct sheet *sheet)
{
	int status = order_columns(sheet);

	return status < 0 ? status : number_columns(sheet);
}
