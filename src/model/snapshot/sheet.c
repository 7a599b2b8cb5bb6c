/* SPDX-License-Identifier: MIT */
#include "model/snapshot/sheet.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/dictionary.h"
#include "metric/reading.h"

void sheet_clear(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->columns.count; i++)
		column_free(&sheet->columns.data[i]);
	array_free(&sheet->columns);
	free(sheet->keys);
	dictionary_free(sheet->names);
	arena_clear(&sheet->arena);
	*sheet = (struct sheet){ 0 };
}

int sheet_add_row(struct sheet *sheet, uint32_t key, uint32_t *ret_row)
{
	size_t from = sheet->row_capacity, to = array_grown(from, sheet->row_count + 1);

	for (size_t i = 0; i < sheet->columns.count && sheet->row_count == from; i++)
		if (sheet->columns.data[i].values &&
		    column_grow(&sheet->columns.data[i], from, to) < 0)
			return -ENOMEM;
	if (array_reserve_bytes((void **)&sheet->keys, &sheet->row_capacity, sheet->row_count + 1,
				sizeof(*sheet->keys)) < 0)
		return -ENOMEM;
	sheet->keys[sheet->row_count] = key;
	*ret_row = (uint32_t)sheet->row_count++;
	return 0;
}

/* The descriptor of a new column; it lives as long as the sheet. */
static const struct metric *describe(struct sheet *sheet, const char *name, size_t length)
{
	struct metric *metric = arena_alloc(&sheet->arena, sizeof(*metric));
	const char *copy = arena_copy(&sheet->arena, name, length);

	if (!metric || !copy)
		return NULL;
	*metric = reading_metric(copy);
	return metric;
}

static int find_column(struct sheet *sheet, const char *name, struct column **ret)
{
	struct column column = { 0 };
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
		column.metric = describe(sheet, name, length);
		if (!column.metric || array_append(&sheet->columns, column) < 0)
			return -ENOMEM;
	}
	*ret = &sheet->columns.data[number - 1];
	return 0;
}

int sheet_set(struct sheet *sheet, uint32_t row, const char *name, enum cell_state state,
	      uint64_t value)
{
	struct column *column;
	int status = find_column(sheet, name, &column);

	if (status < 0)
		return status;
	if (!column->values && column_grow(column, 0, sheet->row_capacity) < 0)
		return -ENOMEM;
	column_set(column, row, state, value);
	return 0;
}

int sheet_set_absent(struct sheet *sheet, const char *name, const char *reason)
{
	struct column *column;
	int status = find_column(sheet, name, &column);

	return status < 0 ? status : column_set_absent(column, &sheet->arena, reason);
}

int sheet_set_origin(struct sheet *sheet, const char *name, const char *origin)
{
	struct column *column;
	int status = find_column(sheet, name, &column);

	return status < 0 ? status : column_set_origin(column, &sheet->arena, origin);
}

const struct column *sheet_find(const struct sheet *sheet, const char *name)
{
	uint32_t number = sheet->names ? dictionary_find(sheet->names, name, strlen(name)) : 0;

	return number && number <= sheet->columns.count ? &sheet->columns.data[number - 1] : NULL;
}

static void move_cell(struct column *column, size_t from, size_t to)
{
	if (!column->values)
		return;
	column->values[to] = column->values[from];
	column->states[to] = column->states[from];
}

/* Empties the rows behind the last one, and says of columns without cells why they have none. */
static int end_columns(struct sheet *sheet, size_t rows_before, const char *reason)
{
	int status = 0;

	for (size_t i = 0; i < sheet->columns.count && status == 0; i++) {
		struct column *column = &sheet->columns.data[i];

		if (column->values)
			memset(column->states + sheet->row_count, CELL_ABSENT,
			       rows_before - sheet->row_count);
		if (!column->absent && !column_measured(column, sheet->row_count))
			status = column_set_absent(column, &sheet->arena, reason);
	}
	return status;
}

int sheet_move(struct sheet *sheet, const uint32_t *new_keys, const char *reason)
{
	size_t rows = sheet->row_count, kept = 0;

	for (size_t row = 0; row < rows; row++) {
		uint32_t key = new_keys[sheet->keys[row]];

		if (key == SHEET_KEY_GONE)
			continue;
		sheet->keys[kept] = key;
		for (size_t i = 0; kept < row && i < sheet->columns.count; i++)
			move_cell(&sheet->columns.data[i], row, kept);
		kept++;
	}
	sheet->row_count = kept;
	return kept < rows ? end_columns(sheet, rows, reason) : 0;
}

/* Words of a name that are compared one by one; the last level holds all words that are left. */
#define LEVELS 4

/*
 * The sort key of a column: its family's place in readings.def, then, for each of its words, the
 * first column whose name has the same words up to there.  So columns that share words are
 * together, in the order in which the kernel listed them.  Columns in that order already stay in
 * it, so a file that is read and written again does not change.
 */
struct place {
	struct column column;
	uint32_t levels[LEVELS];
};

/* The first columns that have each prefix, by the prefix's number. */
struct prefixes {
	struct dictionary *numbers;
	ARRAY_OF(uint32_t) first;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *first = a, *second = b;
	unsigned families[] = { first->column.metric->family, second->column.metric->family };

	if (families[0] != families[1])
		return families[0] < families[1] ? -1 : 1;
	for (int level = 0; level < LEVELS; level++)
		if (first->levels[level] != second->levels[level])
			return first->levels[level] < second->levels[level] ? -1 : 1;
	return 0;
}

static int first_with(struct prefixes *prefixes, const char *name, size_t length, uint32_t column,
		      uint32_t *ret)
{
	uint32_t number;
	int status = dictionary_add(prefixes->numbers, name, length, &number);

	if (status == 0)
		status = array_extend(&prefixes->first, number + 1, column);
	if (status == 0)
		*ret = prefixes->first.data[number];
	return status;
}

/* The last word of a name needs no search: no other column has the whole name. */
static int find_place(struct prefixes *prefixes, const struct column *column, uint32_t number,
		      struct place *ret)
{
	char name[sizeof(column->metric->family) + SHEET_NAME_SIZE]; /* the family comes first */
	size_t length = sizeof(column->metric->family);
	int status = 0;

	*ret = (struct place){ .column = *column };
	memcpy(name, &column->metric->family, length);
	memcpy(name + length, column->metric->name, strlen(column->metric->name) + 1);
	for (int level = 0; level < LEVELS && status == 0; level++) {
		length += strcspn(name + length, " ");
		if (level + 1 == LEVELS || !name[length]) {
			ret->levels[level] = number;
			break;
		}
		status = first_with(prefixes, name, length, number, &ret->levels[level]);
		length++;
	}
	return status;
}

/* Puts the columns in order; *ret_moved says whether any is at another place now. */
static int order_columns(struct sheet *sheet, bool *ret_moved)
{
	size_t count = sheet->columns.count;
	struct prefixes prefixes = { .numbers = dictionary_new() };
	struct place *places = calloc(count + 1, sizeof(*places));
	int status = prefixes.numbers && places ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && status == 0; i++)
		status = find_place(&prefixes, &sheet->columns.data[i], (uint32_t)i, &places[i]);
	if (status == 0)
		qsort(places, count, sizeof(*places), compare_places);
	*ret_moved = false;
	for (size_t i = 0; i < count && status == 0; i++) {
		*ret_moved |= sheet->columns.data[i].metric != places[i].column.metric;
		sheet->columns.data[i] = places[i].column;
	}
	free(places);
	array_free(&prefixes.first);
	dictionary_free(prefixes.numbers);
	return status;
}

/* A column's number is its place, so a new order needs a new dictionary of the names. */
static int number_columns(struct sheet *sheet)
{
	struct dictionary *names = dictionary_new();
	uint32_t number;
	int status = names ? 0 : -ENOMEM;

	for (size_t i = 0; i < sheet->columns.count && status == 0; i++) {
		const char *name = sheet->columns.data[i].metric->name;

		status = dictionary_add(names, name, strlen(name), &number);
	}
	if (status < 0) {
		dictionary_free(names);
		return status;
	}
	dictionary_free(sheet->names);
	sheet->names = names;
	return 0;
}

int sheet_finish(struct sheet *sheet)
{
	bool has_moved;
	int status = order_columns(sheet, &has_moved);

	return status == 0 && has_moved ? number_columns(sheet) : status;
}
