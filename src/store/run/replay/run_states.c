/* SPDX-License-Identifier: MIT */
#include "store/run/replay/run_states.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/run/replay/run_members.h"
#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_values.h"

/* Bounds the memory that a file can make us take: a cell of each column is kept for each row. */
#define ROWS_MAX 1024
#define PATH_SIZE 4096

static int read_cell(struct snapshot *snapshot, struct sheet *sheet, uint32_t row, const char *name,
		     const json_t *value)
{
	const char *text = json_string_value(value);
	uint32_t number;

	if (json_is_integer(value))
		return sheet_set(sheet, row, name, CELL_NUMBER,
				 (uint64_t)json_integer_value(value));
	if (!text)
		return 0;
	if (strcmp(text, STATE_UNLIMITED) == 0)
		return sheet_set(sheet, row, name, CELL_UNLIMITED, 0);
	if (snapshot_intern(snapshot, text, strlen(text), &number) < 0)
		return -ENOMEM;
	return sheet_set(sheet, row, name, CELL_TEXT, number);
}

static int read_row(struct snapshot *snapshot, struct sheet *sheet, const json_t *object)
{
	char path[PATH_SIZE] = "";
	uint32_t key = 0, row;
	const char *name;
	json_t *value;
	int status;

	member_bytes(object, "path", path, sizeof(path));
	if (path[0] && snapshot_intern(snapshot, path, strlen(path), &key) < 0)
		return -ENOMEM;
	status = sheet_add_row(sheet, key, &row);
	if (status < 0)
		return status;
	json_object_foreach(json_object_get(object, "readings"), name, value)
	{
		if (read_cell(snapshot, sheet, row, name, value) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int read_texts(struct sheet *sheet, json_t *texts,
		      int (*set)(struct sheet *sheet, const char *name, const char *text))
{
	const char *name;
	json_t *value;

	json_object_foreach(texts, name, value)
	{
		const char *text = json_string_value(value);

		if (text && set(sheet, name, text) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

int run_read_sheet(const json_t *object, struct snapshot *snapshot, struct sheet *sheet)
{
	const json_t *rows = json_object_get(object, "rows");
	int status = 0;

	for (size_t i = 0; status == 0 && i < size_within(rows, ROWS_MAX); i++)
		status = read_row(snapshot, sheet, json_array_get(rows, i));
	if (status == 0)
		status = read_texts(sheet, json_object_get(object, "absent"), sheet_set_absent);
	if (status == 0)
		status = read_texts(sheet, json_object_get(object, "origins"), sheet_set_origin);
	return status;
}

int run_read_states(const json_t *line, struct run *run)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *states = NULL;
	int status = snapshot_new(&states);

	for (size_t i = 0; status == 0 && i < STATE_SHEETS; i++)
		status = run_read_sheet(json_object_get(line, state_sheets[i].key), states,
					&states->sheets[state_sheets[i].id]);
	if (status < 0)
		return status;
	snapshot_free(run->states);
	run->states = TAKE_PTR(states);
	return 0;
}
