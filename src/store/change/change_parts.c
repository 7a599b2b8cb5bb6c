/* SPDX-License-Identifier: MIT */
#include "store/change/change_parts.h"

#include <errno.h>
#include <string.h>

#include "metric/metric.h"
#include "store/tscope/cells.h"
#include "store/tscope/series.h"

int parts_read(const struct bytes *payload, struct parts *ret)
{
	struct reader reader = { .next = payload->data, .end = payload->data + payload->size };

	while (reader_left(&reader)) {
		struct part part = { .begin = reader.next };

		part.name = reader_string(&reader, &part.name_length);
		part.type = reader_u8(&reader);
		part.body = reader_part(&reader, reader_varint(&reader));
		if (reader.bad)
			return -EBADMSG;
		if (array_append(&ret->list, part) < 0)
			return -ENOMEM;
	}
	return 0;
}

const struct part *parts_find(const struct parts *parts, size_t from, uint8_t type,
			      const char *name, size_t length)
{
	for (size_t i = from; i < parts->list.count; i++) {
		const struct part *part = &parts->list.data[i];

		if (part->type == type && part->name_length == length &&
		    memcmp(part->name, name, length) == 0)
			return part;
	}
	return NULL;
}

void change_clear(struct change *change)
{
	array_free(&change->base.list);
	array_free(&change->now.list);
	row_map_clear(&change->tasks);
	row_map_clear(&change->processes);
	change_list_clear(&change->list);
	cells_clear(&change->cells);
	cells_clear(&change->base_cells);
	cells_clear(&change->predicted);
}

int change_spend(struct change *change, uint64_t cells)
{
	if (cells > change->limits.cells)
		return -EFBIG;
	change->limits.cells -= cells;
	return 0;
}

const struct row_map *change_map(const struct change *change, uint8_t scope)
{
	const struct row_map *map = scope == METRIC_OF_THREAD  ? &change->tasks :
				    scope == METRIC_OF_PROCESS ? &change->processes :
								 NULL;

	return map && map->base ? map : NULL;
}

uint64_t change_translate(const struct change *change, uint8_t target, uint64_t number)
{
	const struct row_map *map = target == TARGET_TASK ? &change->tasks : &change->processes;

	if (target == TARGET_NONE)
		return number;
	return number < map->base_rows && map->now[number] != ROW_NONE ? map->now[number] : 0;
}

int field_read(struct reader body, size_t rows, struct cells *ret)
{
	if (cells_reserve(ret, rows) < 0)
		return -ENOMEM;
	series_read(&body, ret->values, rows);
	memset(ret->states, 1, rows);
	return body.bad || reader_left(&body) ? -EBADMSG : 0;
}

int column_read(struct reader body, size_t rows, struct reader *ret_head, struct cells *ret)
{
	size_t length, count;

	*ret_head = body;
	for (int i = 0; i < 3; i++) /* unit, kind, scope */
		reader_string(&body, &length);
	ret_head->end = body.next;
	if (cells_reserve(ret, rows) < 0)
		return -ENOMEM;
	count = presence_read(&body, ret->states, rows);
	if (!body.bad)
		series_read(&body, ret->values, count);
	if (body.bad || reader_left(&body))
		return -EBADMSG;
	values_spread(ret->values, ret->states, rows, count);
	return 0;
}
