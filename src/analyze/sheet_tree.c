/* SPDX-License-Identifier: MIT */
#include "analyze/sheet_tree.h"

#include <errno.h>
#include <string.h>

#include "analyze/sheet_layout.h"
#include "base/dictionary.h"

/* The row of each path's number in one run. */
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

static const char *path_of_row(const struct sheet_run *run, uint32_t row)
{
	return snapshot_text(run->snapshot, run->sheet->keys[row]);
}

static int number_paths(struct sheet_layout *layout, const struct sheet_run *run,
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

static int find_above(struct sheet_layout *layout, struct sheet_run *run,
		      const struct path_rows *paths, uint32_t row)
{
	const char *path = path_of_row(run, row);
	size_t length = parent_length(path, strlen(path));

	for (; length > 0; length = parent_length(path, length)) {
		uint32_t number, above;

		if (dictionary_add(layout->paths, path, length, &number) < 0)
			return -ENOMEM;
		above = path_row(paths, number);
		if (above == NO_ROW || run->key_of_row[above] != run->key_of_row[row])
			continue;
		run->above[row] = above;
		break;
	}
	return 0;
}

static int find_ancestors(struct sheet_layout *layout, struct sheet_run *run,
			  const struct path_rows *paths)
{
	int status = 0;

	for (uint32_t row = 0; status == 0 && row < run->sheet->row_count; row++)
		if (run->population[run->key_of_row[row]] > 1)
			status = find_above(layout, run, paths, row);
	return status;
}

static int find_partners(struct sheet_layout *layout, struct sheet_run *run,
			 const struct path_rows *before)
{
	for (uint32_t row = 0; row < run->sheet->row_count; row++) {
		const char *path = path_of_row(run, row);
		uint32_t number;

		if (dictionary_add(layout->paths, path, strlen(path), &number) < 0)
			return -ENOMEM;
		run->partner[row] = path_row(before, number);
		if (run->partner[row] != NO_ROW)
			layout->runs[0].partner[run->partner[row]] = row;
	}
	return 0;
}

static int place_cgroups(struct sheet_layout *layout, struct sheet_run *run,
			 struct path_rows *before)
{
	struct path_rows paths = { 0 };
	int status = number_paths(layout, run, &paths);

	if (status == 0)
		status = find_ancestors(layout, run, &paths);
	if (status == 0)
		status = find_partners(layout, run, before);
	/* Of an interval, which has one snapshot a side, the first run is A. */
	if (run == layout->runs)
		*before = paths;
	else
		array_free(&paths.rows);
	return status;
}

/* Sheets of the host have one row, or none. */
static void place_host(const struct sheet_layout *layout, struct sheet_run *run)
{
	if (run->sheet->row_count && layout->runs[0].sheet->row_count)
		run->partner[0] = 0;
}

int sheet_tree_place(struct sheet_layout *layout)
{
	struct path_rows before = { 0 };
	int status = 0;

	for (size_t i = 0; status == 0 && i < layout->run_count; i++) {
		struct sheet_run *run = &layout->runs[i];

		run->above = sheet_layout_numbers(layout, run->sheet->row_count);
		run->partner = sheet_layout_numbers(layout, run->sheet->row_count);
		if (!run->above || !run->partner)
			status = -ENOMEM;
		else if (layout->sheet == SHEET_CGROUPS)
			status = place_cgroups(layout, run, &before);
		else if (layout->sheet != SHEET_PROCESSES)
			place_host(layout, run);
	}
	array_free(&before.rows);
	return status;
}
