/* SPDX-License-Identifier: MIT */
/* Cgroups by their paths: which is below which, and which of B is which of A. */
#include "analyze/sheet/sheet_layout.h"

#include <errno.h>
#include <string.h>

#include "base/collection/dictionary.h"

/* The row of a path in a run; row_of is by number of the path in the run's own dictionary. */
static uint32_t row_of_path(const struct compare_run *run, const uint32_t *row_of, const char *path,
			    size_t length)
{
	uint32_t number = dictionary_find(run->snapshot->strings, path, length);

	/* 0 is the number of the empty text, and of those that are not there. */
	return number || !length ? row_of[number] : NO_ROW;
}

static const char *path_of_row(const struct compare_run *run, uint32_t row)
{
	return snapshot_text(run->snapshot, run->sheet->keys[row]);
}

/* Length of the parent's path: "/" of "/a"; 0 when there is none. */
static size_t parent_length(const char *path, size_t length)
{
	if (length <= 1)
		return 0;
	while (length > 0 && path[length - 1] != '/')
		length--;
	return length <= 1 ? length : length - 1;
}

static void find_above(struct compare_run *run, const uint32_t *row_of, uint32_t row)
{
	const struct member_rows *rows = &run->rows[METRIC_OF_ROW];
	const char *path = path_of_row(run, row);
	size_t length = parent_length(path, strlen(path));

	for (; length > 0; length = parent_length(path, length)) {
		uint32_t above = row_of_path(run, row_of, path, length);

		if (above == NO_ROW || rows->group_of[above] != rows->group_of[row])
			continue;
		rows->above[row] = above;
		break;
	}
}

static int place_run(struct sheet_layout *layout, size_t number, uint32_t **ret_row_of)
{
	struct compare_run *run = &layout->base.runs[number];
	int side = number >= layout->base.before_count;
	const uint32_t *population = layout->base.population[side][METRIC_OF_ROW];
	struct member_rows *rows = &run->rows[METRIC_OF_ROW];
	uint32_t *row_of = sheet_layout_numbers(layout, dictionary_count(run->snapshot->strings));

	rows->above = sheet_layout_numbers(layout, rows->count);
	if (!row_of || !rows->above)
		return -ENOMEM;
	for (uint32_t row = 0; row < rows->count; row++)
		row_of[run->sheet->keys[row]] = row;
	for (uint32_t row = 0; row < rows->count; row++)
		if (population[rows->group_of[row]] > 1)
			find_above(run, row_of, row);
	*ret_row_of = row_of;
	return 0;
}

/* The row of A that a row of B was: found by path for cgroups; the host has one row. */
static uint32_t find_before(const struct sheet_layout *layout, uint32_t row, const uint32_t *row_of)
{
	const struct compare_run *before = &layout->base.runs[0];
	const char *path;

	if (layout->sheet != SHEET_CGROUPS)
		return before->sheet->row_count ? 0 : NO_ROW;
	path = path_of_row(&layout->base.runs[1], row);
	return row_of_path(before, row_of, path, strlen(path));
}

/* A row that A does not have is new in B, unless A was not read or was limited. */
static int join_rows(struct sheet_layout *layout, const uint32_t *row_of)
{
	struct compare_layout *base = &layout->base;
	const struct compare_run *a = &base->runs[0];
	size_t count = base->runs[1].sheet->row_count, left = a->sheet->row_count;
	bool may_miss = a->sheet->row_count == 0 || a->is_filtered;
	uint32_t *before_of = sheet_layout_numbers(layout, count);
	uint32_t *stays = sheet_layout_numbers(layout, left);

	base->removed = sheet_layout_numbers(layout, left);
	if (!before_of || !stays || !base->removed)
		return -ENOMEM;
	for (uint32_t row = 0; row < count; row++) {
		before_of[row] = find_before(layout, row, row_of);
		if (before_of[row] != NO_ROW)
			stays[before_of[row]] = row;
		else
			before_of[row] = may_miss ? JOIN_MISSED : JOIN_BORN;
	}
	for (uint32_t row = 0; row < left; row++)
		if (stays[row] == NO_ROW)
			base->removed[base->removed_count++] = row;
	base->before_of[METRIC_OF_ROW] = before_of;
	return 0;
}

int sheet_tree_place(struct sheet_layout *layout)
{
	uint32_t *row_of = NULL;
	int status = 0;

	/* A comes last: an interval has one snapshot on each side. */
	for (size_t i = layout->base.run_count;
	     layout->sheet == SHEET_CGROUPS && status == 0 && i-- > 0;)
		status = place_run(layout, i, &row_of);
	if (status == 0 && layout->base.is_interval && layout->sheet != SHEET_PROCESSES)
		status = join_rows(layout, row_of);
	return status;
}
