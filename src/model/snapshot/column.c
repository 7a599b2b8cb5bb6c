/* SPDX-License-Identifier: MIT */
#include "model/snapshot/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/collection/arena.h"

static int grow_array(void *data, size_t from, size_t to, size_t size)
{
	char **bytes = data;
	char *moved = from ? realloc(*bytes, to * size) : calloc(to, size);

	if (!moved)
		return -ENOMEM;
	if (from)
		memset(moved + from * size, 0, (to - from) * size);
	*bytes = moved;
	return 0;
}

int column_grow(struct column *column, size_t from, size_t to)
{
	if (from == 0)
		column_free(column);
	/* Allocate the values last: a column without values counts as empty. */
	if (grow_array(&column->states, from, to, sizeof(*column->states)) < 0)
		return -ENOMEM;
	return grow_array(&column->values, from, to, sizeof(*column->values));
}

void column_free(struct column *column)
{
	free(column->values);
	free(column->states);
	column->values = NULL;
	column->states = NULL;
}

size_t column_measured(const struct column *column, size_t rows)
{
	size_t count = 0;

	for (size_t row = 0; column->values && row < rows; row++)
		count += column->states[row] != CELL_ABSENT;
	return count;
}

static int keep_first(struct arena *arena, const char **place, const char *text)
{
	if (!*place)
		*place = arena_copy(arena, text, strlen(text));
	return *place ? 0 : -ENOMEM;
}

int column_set_absent(struct column *column, struct arena *arena, const char *reason)
{
	return keep_first(arena, &column->absent, reason);
}

int column_set_origin(struct column *column, struct arena *arena, const char *origin)
{
	return keep_first(arena, &column->origin, origin);
}
