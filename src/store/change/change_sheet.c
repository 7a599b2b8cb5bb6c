/* SPDX-License-Identifier: MIT */
/* Changes of a sheet.  Its cells count column by column. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/change/change_parts.h"
#include "store/tscope/cells.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

void sheet_parts_clear(struct sheet_parts *sheet)
{
	free(sheet->keys);
	array_free(&sheet->columns);
}

bool sheet_head_read(struct reader *body, struct sheet_column *ret)
{
	size_t length;
	uint8_t flags;

	ret->head.next = body->next;
	ret->name = reader_string(body, &ret->name_length);
	flags = reader_u8(body);
	if (flags & COLUMN_HAS_ORIGIN)
		reader_string(body, &length);
	if (flags & COLUMN_HAS_REASON)
		reader_string(body, &length);
	if (flags & COLUMN_HAS_CELLS) {
		reader_string(body, &length);
		reader_string(body, &length);
	}
	ret->head.end = body->next;
	return flags & COLUMN_HAS_CELLS;
}

/* Reads states and values, and leaves the body after them. */
static int read_cells(struct reader *body, size_t rows, struct cells *cells)
{
	size_t count = 0;

	if (cells_reserve(cells, rows) < 0)
		return -ENOMEM;
	series_read(body, cells->values, rows);
	if (body->bad)
		return -EBADMSG;
	for (size_t row = 0; row < rows; row++) {
		if (cells->values[row] >= CELL_STATE_COUNT)
			return -EBADMSG;
		cells->states[row] = (uint8_t)cells->values[row];
		count += cell_has_value(cells->states[row]);
	}
	series_read(body, cells->values, count);
	if (body->bad)
		return -EBADMSG;
	for (size_t row = rows; row-- > 0;)
		cells->values[row] =
			cell_has_value(cells->states[row]) ? cells->values[--count] : 0;
	return 0;
}

int sheet_cells_read(const struct sheet_column *column, size_t rows, struct cells *ret)
{
	struct reader body = column->cells;

	if (reader_left(&body))
		return read_cells(&body, rows, ret);
	if (cells_reserve(ret, rows) < 0)
		return -ENOMEM;
	memset(ret->values, 0, rows * sizeof(*ret->values));
	memset(ret->states, CELL_ABSENT, rows);
	return 0;
}

static int read_columns(struct reader *body, struct cells *work, struct sheet_parts *sheet)
{
	uint64_t count = reader_varint(body);
	int status = 0;

	for (uint64_t i = 0; i < count && status == 0; i++) {
		struct sheet_column column = { 0 };
		bool has_cells = sheet_head_read(body, &column);

		column.cells.next = body->next;
		if (has_cells && !body->bad)
			status = read_cells(body, sheet->rows, work);
		column.cells.end = body->next;
		if (status == 0 && body->bad)
			status = -EBADMSG;
		if (status == 0)
			status = array_append(&sheet->columns, column);
	}
	return status == 0 && (body->bad || reader_left(body)) ? -EBADMSG : status;
}

int sheet_parts_read(struct reader body, uint64_t row_limit, struct cells *work,
		     struct sheet_parts *ret)
{
	uint64_t rows = reader_varint(&body);

	if (body.bad)
		return -EBADMSG;
	if (rows > row_limit)
		return -EFBIG;
	ret->keys = malloc(rows * sizeof(*ret->keys) + 1);
	if (!ret->keys)
		return -ENOMEM;
	ret->rows = rows;
	series_read(&body, ret->keys, rows);
	return body.bad ? -EBADMSG : read_columns(&body, work, ret);
}

static uint8_t find_target(const struct part *part)
{
	for (int id = 0; id < SHEET_COUNT; id++) {
		const char *name = sheet_name((enum sheet_id)id);

		if (part->name_length != strlen(name) || memcmp(part->name, name, strlen(name)))
			continue;
		return sheet_keys[id] == FIELD_PROCESS ? TARGET_PROCESS :
		       sheet_keys[id] == FIELD_TASK    ? TARGET_TASK :
							 TARGET_NONE;
	}
	return TARGET_NONE;
}

static void translate_keys(const struct change *change, uint8_t target, struct sheet_parts *base)
{
	for (size_t row = 0; row < base->rows; row++)
		base->keys[row] = change_translate(change, target, base->keys[row]);
}

static int join_rows(struct row_map *map, const struct sheet_parts *base,
		     const struct sheet_parts *now)
{
	CLEANUP(free_pointer)
	struct row_key *keys = calloc(base->rows + now->rows + 1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (size_t row = 0; row < base->rows; row++)
		keys[row].first = base->keys[row];
	for (size_t row = 0; row < now->rows; row++)
		keys[base->rows + row].first = now->keys[row];
	return row_map_join(map, keys, base->rows, keys + base->rows, now->rows);
}

static bool same_bytes(const struct reader *a, const struct reader *b)
{
	return reader_left(a) == reader_left(b) && memcmp(a->next, b->next, reader_left(a)) == 0;
}

/* The column of that name at or after `from`, or their number. */
static size_t find_column(const struct sheet_parts *sheet, size_t from,
			  const struct sheet_column *wanted)
{
	size_t i = from;

	for (; i < sheet->columns.count; i++) {
		const struct sheet_column *column = &sheet->columns.data[i];

		if (column->name_length == wanted->name_length &&
		    memcmp(column->name, wanted->name, wanted->name_length) == 0)
			break;
	}
	return i;
}

/*
 * Where each column was: how many columns of the base are skipped, plus one; 0 for a new one.
 * `heads` collects the heads that differ.
 */
static void place_columns(const struct sheet_parts *base, const struct sheet_parts *now,
			  uint64_t *places, uint64_t *is_head_new, struct bytes *heads)
{
	size_t next = 0;

	for (size_t i = 0; i < now->columns.count; i++) {
		const struct sheet_column *column = &now->columns.data[i];
		size_t found = find_column(base, next, column);

		places[i] = found == base->columns.count ? 0 : found - next + 1;
		is_head_new[i] =
			!places[i] || !same_bytes(&base->columns.data[found].head, &column->head);
		if (places[i])
			next = found + 1;
		if (!is_head_new[i])
			continue;
		bytes_put_varint(heads, reader_left(&column->head));
		bytes_put(heads, column->head.next, reader_left(&column->head));
	}
}

static int compare_columns(struct change *change, const struct sheet_parts *base,
			   const struct sheet_parts *now, const struct row_map *map,
			   const uint64_t *places)
{
	const struct sheet_column none = { 0 };
	size_t next = 0;
	int status = 0;

	change_list_empty(&change->list);
	for (size_t i = 0; i < now->columns.count && status == 0; i++) {
		const struct sheet_column *was = &none;

		if (places[i]) {
			was = &base->columns.data[next + places[i] - 1];
			next += places[i];
		}
		status = sheet_cells_read(was, base->rows, &change->base_cells);
		if (status == 0)
			status = cells_predict(&change->predicted, &change->base_cells, map);
		if (status == 0)
			status = sheet_cells_read(&now->columns.data[i], now->rows, &change->cells);
		if (status == 0)
			status = change_list_compare(&change->list, i * now->rows,
						     &change->predicted, &change->cells, now->rows);
	}
	return status;
}

static int write_columns(struct change *change, const struct sheet_parts *base,
			 const struct sheet_parts *now, const struct row_map *map)
{
	size_t count = now->columns.count;
	CLEANUP(bytes_free) struct bytes heads = { 0 };
	CLEANUP(free_pointer) uint64_t *places = calloc(2 * count + 1, sizeof(*places));
	int status;

	if (!places)
		return -ENOMEM;
	place_columns(base, now, places, places + count, &heads);
	status = compare_columns(change, base, now, map, places);
	if (status < 0 || heads.failed)
		return status < 0 ? status : -ENOMEM;
	bytes_put_varint(change->out, count);
	series_write(change->out, places, count);
	series_write(change->out, places + count, count);
	bytes_put(change->out, heads.data, heads.size);
	change_list_write(&change->list, change->out);
	return 0;
}

int find_sheet_change(struct change *change, const struct part *base, const struct part *now)
{
	CLEANUP(sheet_parts_clear) struct sheet_parts was = { 0 }, is = { 0 };
	CLEANUP(row_map_clear) struct row_map map = { 0 };
	uint8_t target = find_target(now);
	int status = sheet_parts_read(base->body, UINT32_MAX, &change->cells, &was);

	if (status == 0)
		status = sheet_parts_read(now->body, UINT32_MAX, &change->cells, &is);
	if (status < 0)
		return status;
	translate_keys(change, target, &was);
	status = join_rows(&map, &was, &is);
	if (status < 0)
		return status;
	bytes_put_u8(change->out, CHANGE_SHEET);
	bytes_put_u8(change->out, target);
	row_map_write(&map, is.keys, change->out);
	return write_columns(change, &was, &is, &map);
}

static void write_cells(struct bytes *body, struct cells *cells, size_t rows, uint64_t *states)
{
	size_t count = 0;

	for (size_t row = 0; row < rows; row++)
		states[row] = cells->states[row];
	series_write(body, states, rows);
	for (size_t row = 0; row < rows; row++)
		if (cell_has_value(cells->states[row]))
			cells->values[count++] = cells->values[row];
	series_write(body, cells->values, count);
}

/* What applying a sheet's changes needs for all its columns. */
struct sheet_change {
	struct sheet_parts base;
	struct row_map map;
	uint64_t *keys;
	uint64_t *places, *is_head_new;
	uint64_t *states;
	size_t columns;
	struct reader heads;
};

static void sheet_change_clear(struct sheet_change *sheet)
{
	sheet_parts_clear(&sheet->base);
	row_map_clear(&sheet->map);
	free(sheet->keys);
	free(sheet->places);
	free(sheet->states);
}

static int apply_column(struct change *change, struct sheet_change *sheet, size_t index,
			const struct sheet_column *was, struct change_cursor *cursor,
			struct bytes *body)
{
	struct sheet_column column = *was;
	struct reader head = was->head;
	size_t rows = sheet->map.rows;
	bool has_cells;
	int status;

	if (sheet->is_head_new[index])
		head = reader_part(&sheet->heads, reader_varint(&sheet->heads));
	bytes_put(body, head.next, reader_left(&head));
	has_cells = sheet_head_read(&head, &column);
	if (head.bad || reader_left(&head))
		return -EBADMSG;
	status = change_spend(change, sheet->base.rows + rows);
	if (status == 0)
		status = sheet_cells_read(was, sheet->base.rows, &change->base_cells);
	if (status == 0)
		status = cells_predict(&change->predicted, &change->base_cells, &sheet->map);
	if (status == 0)
		status = change_list_apply(&change->list, cursor, index * rows, &change->predicted,
					   rows);
	if (status == 0 && has_cells)
		write_cells(body, &change->predicted, rows, sheet->states);
	return status == 0 && body->size > change->limits.bytes ? -EFBIG : status;
}

static int apply_columns(struct change *change, struct sheet_change *sheet, struct bytes *body)
{
	const struct sheet_column none = { 0 };
	struct change_cursor cursor = { 0 };
	size_t next = 0;
	int status = 0;

	bytes_put_varint(body, sheet->columns);
	for (size_t i = 0; i < sheet->columns && status == 0; i++) {
		const struct sheet_column *was = &none;

		if (sheet->places[i] > sheet->base.columns.count - next ||
		    (!sheet->places[i] && !sheet->is_head_new[i]))
			return -EBADMSG;
		if (sheet->places[i]) {
			was = &sheet->base.columns.data[next + sheet->places[i] - 1];
			next += sheet->places[i];
		}
		status = apply_column(change, sheet, i, was, &cursor, body);
	}
	return status == 0 && cursor.next < change->list.positions.count ? -EBADMSG : status;
}

/* Reads what is told about the columns; the heads are skipped here and read again. */
static int read_places(struct change *change, struct sheet_change *sheet)
{
	struct reader *changes = change->changes;
	uint64_t count = reader_varint(changes);

	if (changes->bad)
		return -EBADMSG;
	if (count > SHEET_COLUMNS_MAX)
		return -EFBIG;
	sheet->columns = count;
	sheet->places = calloc(2 * count + 1, sizeof(*sheet->places));
	sheet->states = calloc(sheet->map.rows + 1, sizeof(*sheet->states));
	if (!sheet->places || !sheet->states)
		return -ENOMEM;
	sheet->is_head_new = sheet->places + count;
	series_read(changes, sheet->places, count);
	if (!changes->bad)
		series_read(changes, sheet->is_head_new, count);
	sheet->heads.next = changes->next;
	for (size_t i = 0; i < count && !changes->bad; i++)
		if (sheet->is_head_new[i])
			reader_part(changes, reader_varint(changes));
	sheet->heads.end = changes->next;
	return changes->bad ? -EBADMSG :
			      change_list_read(&change->list, changes, count * sheet->map.rows);
}

int apply_sheet_change(struct change *change, const struct part *base, struct bytes *body)
{
	CLEANUP(sheet_change_clear) struct sheet_change sheet = { 0 };
	uint8_t target = reader_u8(change->changes);
	int status =
		sheet_parts_read(base->body, change->limits.cells, &change->cells, &sheet.base);

	if (target > TARGET_PROCESS)
		return -EBADMSG;
	if (status < 0)
		return status;
	translate_keys(change, target, &sheet.base);
	status = row_map_read(&sheet.map, change->changes, sheet.base.keys, sheet.base.rows,
			      change->limits.cells, &sheet.keys);
	if (status == 0)
		status = read_places(change, &sheet);
	if (status < 0)
		return status;
	bytes_put_varint(body, sheet.map.rows);
	series_write(body, sheet.keys, sheet.map.rows);
	return apply_columns(change, &sheet, body);
}
