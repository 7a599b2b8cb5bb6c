/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/change/change_parts.h"
#include "store/tscope/series.h"

void row_map_clear(struct row_map *map)
{
	free(map->base);
	free(map->now);
	*map = (struct row_map){ 0 };
}

static int row_map_init(struct row_map *map, size_t base_rows, size_t rows)
{
	row_map_clear(map);
	map->base = malloc(rows * sizeof(*map->base) + 1);
	map->now = malloc(base_rows * sizeof(*map->now) + 1);
	if (!map->base || !map->now)
		return -ENOMEM;
	memset(map->base, 0xff, rows * sizeof(*map->base)); /* ROW_NONE */
	memset(map->now, 0xff, base_rows * sizeof(*map->now));
	map->rows = rows;
	map->base_rows = base_rows;
	return 0;
}

static void join(struct row_map *map, size_t base, size_t row)
{
	map->base[row] = (uint32_t)base;
	map->now[base] = (uint32_t)row;
}

struct placed_key {
	struct row_key key;
	size_t row;
};

static int compare_keys(const struct row_key *a, const struct row_key *b)
{
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->second > b->second) - (a->second < b->second);
}

static int compare_placed(const void *first, const void *second)
{
	const struct placed_key *a = first, *b = second;
	int order = compare_keys(&a->key, &b->key);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* The first of the sorted keys that is not below the wanted one. */
static size_t find_place(const struct placed_key *sorted, size_t count,
			 const struct placed_key *wanted)
{
	size_t low = 0;

	while (count > 0) {
		size_t half = count / 2;

		if (compare_placed(&sorted[low + half], wanted) < 0) {
			low += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	return low;
}

/* Each row takes the next row of the base with its key, after the one that was taken last. */
static void join_sorted(struct row_map *map, const struct placed_key *sorted,
			const struct row_key *base, const struct row_key *now)
{
	size_t from = 0;

	for (size_t row = 0; row < map->rows; row++) {
		struct placed_key wanted = { now[row], from };
		size_t place = from;

		if (from >= map->base_rows)
			return;
		if (compare_keys(&base[from], &now[row]) != 0) {
			place = find_place(sorted, map->base_rows, &wanted);
			if (place == map->base_rows ||
			    compare_keys(&sorted[place].key, &now[row]) != 0)
				continue;
			place = sorted[place].row;
		}
		join(map, place, row);
		from = place + 1;
	}
}

int row_map_join(struct row_map *map, const struct row_key *base, size_t base_rows,
		 const struct row_key *now, size_t rows)
{
	CLEANUP(free_pointer) struct placed_key *sorted = NULL;
	bool in_order = true;

	if (row_map_init(map, base_rows, rows) < 0)
		return -ENOMEM;
	if (base_rows == rows && memcmp(base, now, rows * sizeof(*now)) == 0) {
		for (size_t row = 0; row < rows; row++)
			join(map, row, row);
		return 0;
	}
	sorted = malloc(base_rows * sizeof(*sorted) + 1);
	if (!sorted)
		return -ENOMEM;
	for (size_t row = 0; row < base_rows; row++) {
		sorted[row] = (struct placed_key){ base[row], row };
		in_order &= row == 0 || compare_placed(&sorted[row - 1], &sorted[row]) < 0;
	}
	if (!in_order)
		qsort(sorted, base_rows, sizeof(*sorted), compare_placed);
	join_sorted(map, sorted, base, now);
	return 0;
}

/* Writes which of the rows have no partner, each by how many have one before it. */
static void write_lonely(const uint32_t *partners, size_t rows, const uint64_t *ids,
			 uint64_t *numbers, struct bytes *out)
{
	size_t count = 0, previous = 0;

	for (size_t row = 0; row < rows; row++) {
		if (partners[row] != ROW_NONE)
			continue;
		numbers[count++] = row - previous;
		previous = row + 1;
	}
	bytes_put_varint(out, count);
	if (!count)
		return;
	series_write(out, numbers, count);
	if (!ids)
		return;
	for (size_t row = count = 0; row < rows; row++)
		if (partners[row] == ROW_NONE)
			numbers[count++] = ids[row];
	series_write(out, numbers, count);
}

void row_map_write(const struct row_map *map, const uint64_t *ids, struct bytes *out)
{
	size_t most = map->rows > map->base_rows ? map->rows : map->base_rows;
	CLEANUP(free_pointer) uint64_t *numbers = malloc(most * sizeof(*numbers) + 1);

	if (!numbers) {
		out->failed = true;
		return;
	}
	write_lonely(map->now, map->base_rows, NULL, numbers, out);
	write_lonely(map->base, map->rows, ids, numbers, out);
}

/* Reads so many numbers as there are, to be freed; NULL when there are none. */
static int read_lonely(struct reader *changes, uint64_t limit, bool has_ids, size_t *ret_count,
		       uint64_t **ret)
{
	uint64_t count = reader_varint(changes);
	uint64_t *numbers;

	if (changes->bad)
		return -EBADMSG;
	if (count > limit)
		return -EFBIG;
	numbers = calloc(2 * count + 1, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	*ret = numbers;
	*ret_count = count;
	if (count)
		series_read(changes, numbers, count);
	if (count && has_ids && !changes->bad)
		series_read(changes, numbers + count, count);
	return changes->bad ? -EBADMSG : 0;
}

/* Marks them in a table of rows that are all unmarked; false when one is beyond its end. */
static bool mark_lonely(const uint64_t *gaps, size_t count, uint8_t *marks, size_t rows)
{
	uint64_t row = 0;

	for (size_t i = 0; i < count; i++) {
		if (row >= rows || gaps[i] >= rows - row)
			return false;
		row += gaps[i];
		marks[row++] = 1;
	}
	return true;
}

static int pair_rows(struct row_map *map, const uint8_t *gone, const uint8_t *added,
		     const uint64_t *base_ids, const uint64_t *new_ids, uint64_t *ids)
{
	size_t base = 0;

	for (size_t row = 0; row < map->rows; row++) {
		if (added[row]) {
			ids[row] = *new_ids++;
			continue;
		}
		while (base < map->base_rows && gone[base])
			base++;
		if (base == map->base_rows)
			return -EBADMSG;
		ids[row] = base_ids[base];
		join(map, base++, row);
	}
	return 0;
}

static int fill_map(struct row_map *map, const uint64_t *gone, size_t gone_count,
		    const uint64_t *added, size_t added_count, const uint64_t *base_ids,
		    uint64_t *ids)
{
	CLEANUP(free_pointer) uint8_t *marks = calloc(map->base_rows + map->rows + 1, 1);

	if (!marks)
		return -ENOMEM;
	if (!mark_lonely(gone, gone_count, marks, map->base_rows) ||
	    !mark_lonely(added, added_count, marks + map->base_rows, map->rows))
		return -EBADMSG;
	return pair_rows(map, marks, marks + map->base_rows, base_ids, added + added_count, ids);
}

int row_map_read(struct row_map *map, struct reader *changes, const uint64_t *base_ids,
		 size_t base_rows, uint64_t row_limit, uint64_t **ret_ids)
{
	CLEANUP(free_pointer) uint64_t *gone = NULL, *added = NULL, *ids = NULL;
	size_t gone_count, added_count, rows;
	int status = read_lonely(changes, base_rows, false, &gone_count, &gone);

	if (status == 0)
		status = read_lonely(changes, row_limit, true, &added_count, &added);
	if (status < 0)
		return status == -EFBIG && !gone ? -EBADMSG : status;
	rows = base_rows - gone_count + added_count;
	if (rows > row_limit)
		return -EFBIG;
	ids = malloc(rows * sizeof(*ids) + 1);
	if (!ids || row_map_init(map, base_rows, rows) < 0)
		return -ENOMEM;
	status = fill_map(map, gone, gone_count, added, added_count, base_ids, ids);
	if (status < 0)
		return status;
	*ret_ids = TAKE_PTR(ids);
	return 0;
}
