/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

static const char *const column_names[CHANGE_COLUMN_COUNT] = {
	[CHANGE_SECTION] = "section",
	[CHANGE_GROUP] = "group",
	[CHANGE_TASKS] = "tasks",
	[CHANGE_METRIC] = "metric",
	[CHANGE_UNIT] = "unit",
	[CHANGE_BEFORE] = "before",
	[CHANGE_AFTER] = "after",
	[CHANGE_INTERVAL] = "interval",
	[CHANGE_DELTA] = "delta",
	[CHANGE_PERCENT] = "%",
	[CHANGE_PER_SECOND] = "per_second",
	[CHANGE_SHARE] = "share",
	[CHANGE_MEASURED] = "measured",
	[CHANGE_STATE] = "state",
	[CHANGE_P] = "p",
};

const char *compare_column_name(enum compare_column column)
{
	return column_names[column];
}

static int find_column(const char *name, size_t length)
{
	for (int column = 0; column < CHANGE_COLUMN_COUNT; column++)
		if (strlen(column_names[column]) == length &&
		    strncmp(column_names[column], name, length) == 0)
			return column;
	return -1;
}

static int unknown_column(const char *name, size_t length, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	suggest_list(&suggestion, COMPARE_COLUMNS);
	return error_set(error, -EINVAL, "there is no column '%.*s'; %s", (int)length, name,
			 suggestion_hint(&suggestion, "", "columns are " COMPARE_COLUMNS));
}

static int add_column(struct compare_columns *columns, const char *name, size_t length,
		      struct error *error)
{
	int column = find_column(name, length);

	if (column < 0)
		return unknown_column(name, length, error);
	for (size_t i = 0; i < columns->count; i++)
		if ((int)columns->ids[i] == column)
			return error_set(error, -EINVAL, "column '%.*s' is named twice",
					 (int)length, name);
	columns->ids[columns->count++] = (enum compare_column)column;
	return 0;
}

int compare_columns_parse(const char *list, struct compare_columns *ret, struct error *error)
{
	struct compare_columns columns = { .count = 0 };
	const char *word = list;

	while (word) {
		size_t length = strcspn(word, ",");
		int status = add_column(&columns, word, length, error);

		if (status < 0)
			return error_mark(error, status, list, (size_t)(word - list));
		word = word[length] ? word + length + 1 : NULL;
	}
	*ret = columns;
	return 0;
}

static int find_key(const struct sort_spec *sort, const struct metric *metric)
{
	for (size_t i = 0; i < sort->count; i++)
		if (&metrics[sort->keys[i].metric] == metric)
			return (int)i;
	return -1;
}

int sort_columns_init(struct sort_columns *columns, const struct compare_view *view)
{
	const struct comparison *comparison = view->ordered;

	if (!comparison) {
		*columns = (struct sort_columns){ 0 };
		return 0;
	}
	columns->keys = view->sort.count;
	columns->groups = comparison->groups.count;
	columns->rows = calloc(columns->groups * columns->keys + 1, sizeof(*columns->rows));
	if (!columns->rows)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];
		int key = find_key(&view->sort, row->metric);

		if (key >= 0)
			columns->rows[row->group * columns->keys + (size_t)key] = row;
	}
	return 0;
}

void sort_columns_clear(struct sort_columns *columns)
{
	free(columns->rows);
	columns->rows = NULL;
}
