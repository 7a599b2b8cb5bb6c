/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "model/snapshot/column.h"
#include "store/change/change_parts.h"
#include "store/tscope/series.h"

int cells_reserve(struct cells *cells, size_t rows)
{
	size_t capacity;

	if (rows <= cells->capacity && cells->values)
		return 0;
	capacity = array_grown(cells->capacity, rows);
	cells_clear(cells);
	cells->values = malloc(capacity * sizeof(*cells->values));
	cells->states = malloc(capacity);
	if (!cells->values || !cells->states)
		return -ENOMEM;
	cells->capacity = capacity;
	return 0;
}

void cells_clear(struct cells *cells)
{
	free(cells->values);
	free(cells->states);
	*cells = (struct cells){ 0 };
}

bool cell_has_value(uint64_t state)
{
	return state == CELL_NUMBER || state == CELL_TEXT;
}

int cells_predict(struct cells *ret, const struct cells *base, const struct row_map *map)
{
	if (cells_reserve(ret, map->rows) < 0)
		return -ENOMEM;
	for (size_t row = 0; row < map->rows; row++) {
		uint32_t from = map->base[row];

		ret->values[row] = from == ROW_NONE ? 0 : base->values[from];
		ret->states[row] = from == ROW_NONE ? CELL_ABSENT : base->states[from];
	}
	return 0;
}

void change_list_empty(struct change_list *list)
{
	list->positions.count = list->states.count = list->differences.count = 0;
}

void change_list_clear(struct change_list *list)
{
	array_free(&list->positions);
	array_free(&list->states);
	array_free(&list->differences);
}

static int add_change(struct change_list *list, uint64_t position, uint8_t state,
		      uint64_t difference)
{
	uint64_t state_number = state;

	if (array_append(&list->positions, position) < 0 ||
	    array_append(&list->states, state_number) < 0)
		return -ENOMEM;
	return cell_has_value(state) ? array_append(&list->differences, difference) : 0;
}

int change_list_compare(struct change_list *list, uint64_t offset, const struct cells *predicted,
			const struct cells *now, size_t rows)
{
	for (size_t row = 0; row < rows; row++) {
		if (now->values[row] == predicted->values[row] &&
		    now->states[row] == predicted->states[row])
			continue;
		if (add_change(list, offset + row, now->states[row],
			       now->values[row] - predicted->values[row]) < 0)
			return -ENOMEM;
	}
	return 0;
}

void change_list_write(const struct change_list *list, struct bytes *out)
{
	size_t count = list->positions.count;

	bytes_put_varint(out, count);
	if (!count)
		return;
	/* From the end, so that each gap takes the place of a position that is not needed again. */
	for (size_t i = count - 1; i > 0; i--)
		list->positions.data[i] -= list->positions.data[i - 1] + 1;
	series_write(out, list->positions.data, count);
	series_write(out, list->states.data, count);
	if (list->differences.count)
		series_write(out, list->differences.data, list->differences.count);
}

static int read_positions(struct change_list *list, uint64_t limit)
{
	uint64_t next = 0;

	for (size_t i = 0; i < list->positions.count; i++) {
		uint64_t gap = list->positions.data[i];

		if (next >= limit || gap >= limit - next)
			return -EBADMSG;
		list->positions.data[i] = next + gap;
		next += gap + 1;
	}
	return 0;
}

int change_list_read(struct change_list *list, struct reader *changes, uint64_t limit)
{
	uint64_t count = reader_varint(changes);
	size_t values = 0;

	change_list_empty(list);
	if (changes->bad || count > limit)
		return -EBADMSG;
	if (!count)
		return 0;
	if (array_reserve(&list->positions, count) < 0 || array_reserve(&list->states, count) < 0 ||
	    array_reserve(&list->differences, count) < 0)
		return -ENOMEM;
	series_read(changes, list->positions.data, count);
	if (!changes->bad)
		series_read(changes, list->states.data, count);
	if (changes->bad)
		return -EBADMSG;
	list->positions.count = list->states.count = count;
	for (size_t i = 0; i < count; i++)
		values += cell_has_value(list->states.data[i]);
	if (values)
		series_read(changes, list->differences.data, values);
	list->differences.count = values;
	return changes->bad ? -EBADMSG : read_positions(list, limit);
}

int change_list_apply(const struct change_list *list, struct change_cursor *cursor, uint64_t offset,
		      struct cells *cells, size_t rows)
{
	for (; cursor->next < list->positions.count; cursor->next++) {
		uint64_t row = list->positions.data[cursor->next] - offset;
		uint64_t state = list->states.data[cursor->next];

		if (row >= rows)
			return 0;
		if (state >= CELL_STATE_COUNT)
			return -EBADMSG;
		if (cell_has_value(state))
			cells->values[row] += list->differences.data[cursor->next_difference++];
		else
			cells->values[row] = 0;
		cells->states[row] = (uint8_t)state;
	}
	return 0;
}
