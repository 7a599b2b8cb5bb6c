/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/metric.h"
#include "store/change/change_parts.h"
#include "store/tscope/cells.h"
#include "store/tscope/layout.h"
#include "store/tscope/series.h"

static int apply_rows(struct change *change, const struct part *base, struct bytes *body)
{
	CLEANUP(free_pointer) uint64_t *ids = NULL;
	uint8_t scope = reader_u8(change->changes);
	struct row_map *map = scope == METRIC_OF_THREAD ? &change->tasks : &change->processes;
	struct reader was = base->body;
	uint64_t rows = reader_varint(&was);
	int status;

	if (was.bad || scope > METRIC_OF_PROCESS || map->base)
		return -EBADMSG;
	status = change_spend(change, rows);
	if (status == 0)
		status = field_read(was, rows, &change->base_cells);
	if (status == 0)
		status = row_map_read(map, change->changes, change->base_cells.values, rows,
				      change->limits.cells, &ids);
	if (status < 0)
		return status;
	bytes_put_varint(body, map->rows);
	series_write(body, ids, map->rows);
	return 0;
}

/* Makes of the cells of the base what they are now, in `predicted`. */
static int apply_cells(struct change *change, const struct row_map *map)
{
	struct change_cursor cursor = { 0 };
	int status = cells_predict(&change->predicted, &change->base_cells, map);

	if (status == 0)
		status = change_list_read(&change->list, change->changes, map->rows);
	if (status == 0)
		status =
			change_list_apply(&change->list, &cursor, 0, &change->predicted, map->rows);
	return status;
}

static int apply_field(struct change *change, const struct part *base, struct bytes *body)
{
	const struct row_map *map = change_map(change, reader_u8(change->changes));
	uint8_t target = reader_u8(change->changes);
	int status;

	if (!map || target > TARGET_PROCESS)
		return -EBADMSG;
	status = change_spend(change, map->base_rows + map->rows);
	if (status == 0)
		status = field_read(base->body, map->base_rows, &change->base_cells);
	for (size_t row = 0; status == 0 && target && row < map->base_rows; row++)
		change->base_cells.values[row] =
			change_translate(change, target, change->base_cells.values[row]);
	if (status == 0)
		status = apply_cells(change, map);
	if (status == 0)
		series_write(body, change->predicted.values, map->rows);
	return status;
}

static int apply_column(struct change *change, const struct part *base, struct bytes *body)
{
	const struct row_map *map = change_map(change, reader_u8(change->changes));
	struct cells *cells = &change->predicted;
	struct reader head;
	size_t count = 0;
	int status;

	if (!map)
		return -EBADMSG;
	status = change_spend(change, map->base_rows + map->rows);
	if (status == 0)
		status = column_read(base->body, map->base_rows, &head, &change->base_cells);
	if (status == 0)
		status = apply_cells(change, map);
	if (status < 0)
		return status;
	bytes_put(body, head.next, reader_left(&head));
	for (size_t row = 0; row < map->rows; row++)
		if (cells->states[row])
			count++;
	presence_write(body, cells->states, map->rows, count);
	for (size_t row = count = 0; row < map->rows; row++)
		if (cells->states[row])
			cells->values[count++] = cells->values[row];
	series_write(body, cells->values, count);
	return 0;
}

static int apply_texts(struct change *change, const struct part *base, struct bytes *body)
{
	struct reader was = base->body, added;
	uint64_t count = reader_varint(&was), more = reader_varint(change->changes);

	added = reader_part(change->changes, reader_varint(change->changes));
	if (was.bad || added.bad || more > UINT32_MAX || count > UINT32_MAX)
		return -EBADMSG;
	bytes_put_varint(body, count + more);
	bytes_put(body, was.next, reader_left(&was));
	bytes_put(body, added.next, reader_left(&added));
	return 0;
}

static int apply_whole(struct change *change, struct bytes *body)
{
	struct reader whole = reader_part(change->changes, reader_varint(change->changes));

	bytes_put(body, whole.next, reader_left(&whole));
	return whole.bad ? -EBADMSG : 0;
}

static int apply_block(struct change *change, const struct part *base, struct bytes *body)
{
	uint8_t kind = reader_u8(change->changes);

	if (kind != CHANGE_ROWS && base->type == BLOCK_ROWS)
		return kind == CHANGE_WHOLE ? apply_whole(change, body) : -EBADMSG;
	switch (kind) {
	case CHANGE_SAME:
		bytes_put(body, base->body.next, reader_left(&base->body));
		return 0;
	case CHANGE_WHOLE:
		return apply_whole(change, body);
	case CHANGE_ROWS:
		return apply_rows(change, base, body);
	case CHANGE_FIELD:
		return apply_field(change, base, body);
	case CHANGE_COLUMN:
		return apply_column(change, base, body);
	case CHANGE_SHEET:
		return apply_sheet_change(change, base, body);
	case CHANGE_ENTRIES:
		return apply_entries_change(change, base, body);
	case CHANGE_TEXTS:
		return apply_texts(change, base, body);
	default:
		return -EBADMSG;
	}
}

static int apply_next(struct change *change, size_t *next, struct bytes *body)
{
	struct bytes *out = change->out;
	uint64_t skipped = reader_varint(change->changes);
	const struct part *base;
	int status;

	if (skipped == 0)
		return apply_whole(change, out);
	if (skipped > change->base.list.count - *next)
		return -EBADMSG;
	base = &change->base.list.data[*next + skipped - 1];
	*next += skipped;
	body->size = 0;
	status = apply_block(change, base, body);
	if (status < 0)
		return status;
	bytes_put_varint(out, base->name_length);
	bytes_put(out, base->name, base->name_length);
	bytes_put_u8(out, base->type);
	bytes_put_varint(out, body->size);
	bytes_put(out, body->data, body->size);
	out->failed |= body->failed;
	return out->failed ? -ENOMEM : 0;
}

int change_apply(const struct bytes *base, const void *changes, size_t size,
		 const struct change_limits *limits, struct bytes *ret)
{
	struct reader reader = { .next = changes, .end = (const uint8_t *)changes + size };
	CLEANUP(change_clear)
	struct change change = { .out = ret, .changes = &reader, .limits = *limits };
	CLEANUP(bytes_free) struct bytes body = { 0 };
	int status = parts_read(base, &change.base);
	size_t next = 0;

	bytes_clear(ret);
	while (status == 0 && reader_left(&reader)) {
		status = apply_next(&change, &next, &body);
		if (status == 0 && ret->size > limits->bytes)
			status = -EFBIG;
	}
	return status == 0 && reader.bad ? -EBADMSG : status;
}
