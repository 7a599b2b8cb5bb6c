/* SPDX-License-Identifier: MIT */
#include "analyze/sheet/sheet_tree.h"

#include <errno.h>
#include <string.h>

#include "analyze/sheet/sheet_layout.h"
#include "base/dictionary.h"

/* By number of a path: its row in one run. */
struct path_rows {
	ARRAY_OF(uint32_t) rows;
};

static int set_path_row(struct path_rows *paths, uint32_t path, uint32_t row)
{
	while (paths->rows.count <= path)
		if (array_append(&paths->rows, NO_ROW) < 0)
			return -ENOMEM;
	paths->rows.data[path] = row;
	return 0;
}

static uint32_t path_row(const struct path_rows *paths, uint32_t path)
{
	return path < paths->rows.count ? paths->rows.data[path] : NO_ROW;
}

static const char *path_of_row(const struct compare_run *run, uint32_t row)
{
	return snapshot_text(run->snapshot, run->sheet->keys[row]);
}

static int number_paths(struct sheet_layout *layout, const struct compare_run *run,
			struct path_rows *ret)
{
	for (uint32_t row = 0; row < run->sheet->row_count; row++) {
		const char *path = path_of_row(run, row);
		uint32_t number;

		if (dictionary_add(layout->paths, path, strlen(path), &number) < 0 ||
		    set_path_row(ret, number, row) < 0)
			return -ENOMEM;
	}
	return 0;
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

static int find_above(struct sheet_layout *layout, struct compare_run *run,
		      const struct path_rows *paths, uint32_t row)
{
	const struct member_rows *rows = &run->rows[METRIC_OF_ROW];
	const char *path = path_of_row(run, row);
	size_t length = parent_length(path, strlen(path));

	for (; length > 0; length = parent_length(path, length)) {
		uint32_t number, above;

		if (dictionary_add(layout->paths, path, length, &number) < 0)
			return -ENOMEM;
		above = path_row(paths, number);
		if (above == NO_ROW || rows->group_of[above] != rows->group_of[row])
			continue;
		rows->above[row] = above;
		break;
	}
	return 0;
}

static int find_ancestors(struct sheet_layout *layout, struct compare_run *run,
			  const struct path_rows *paths)
{
	struct member_rows *rows = &run->rows[METRIC_OF_ROW];
	int status = 0;

	rows->above = sheet_layout_numbers(layout, rows->count);
	if (!rows->above)
		return -ENOMEM;
	for (uint32_t row = 0; status == 0 && row < rows->count; row++)
		if (rows->members[rows->group_of[row]] > 1)
			status = find_above(layout, run, paths, row);
	return status;
}

static int place_run(struct sheet_layout *layout, struct compare_run *run, struct path_rows *ret)
{
	int status = number_paths(layout, run, ret);

	return status < 0 ? status : find_ancestors(layout, run, ret);
}

/* The row of A that a row of B was: found by path for cgroups; the host has one row. */
static int find_before(struct sheet_layout *layout, uint32_t row, const struct path_rows *before,
		       uint32_t *ret)
{
	const struct compare_run *after = &layout->base.runs[1];
	const char *path;
	uint32_t number;

	if (layout->sheet != SHEET_CGROUPS) {
		*ret = layout->base.runs[0].sheet->row_count ? 0 : NO_ROW;
		return 0;
	}
	path = path_of_row(after, row);
	if (dictionary_add(layout->paths, path, strlen(path), &number) < 0)
		return -ENOMEM;
	*ret = path_row(before, number);
	return 0;
}

/* A row that A does not have is new in B, unless A was not read or was limited. */
static int join_rows(struct sheet_layout *layout, const struct path_rows *before)
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
		if (find_before(layout, row, before, &before_of[row]) < 0)
			return -ENOMEM;
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
	struct path_rows before = { 0 };
	int status = 0;

	for (size_t i = 0;
	     layout->sheet == SHEET_CGROUPS && status == 0 && i < layout->base.run_count; i++) {
		struct path_rows paths = { 0 };

		/* An interval has one snapshot on each side, so the first run is A. */
		status = place_run(layout, &layout->base.runs[i], i ? &paths : &before);
		array_free(&paths.rows);
	}
	if (status == 0 && layout->base.is_interval && layout->sheet != SHEET_PROCESSES)
		status = join_rows(layout, &before);
	array_free(&before.rows);
	return status;
}
