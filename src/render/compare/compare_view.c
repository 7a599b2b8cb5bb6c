/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_view.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/compare_sections.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "render/compare/compare_value.h"

static void put_section(struct table *table, const struct comparison *comparison,
			const struct comparison_row *row)
{
	(void)comparison;
	put_text(table, compare_section_name(row->section));
}

static void put_group(struct table *table, const struct comparison *comparison,
		      const struct comparison_row *row)
{
	const struct compared_group *group = &comparison->groups.data[row->group];
	bool is_for_people = table_is_for_people(table);
	struct text *cell = put_begin(table);

	text_append_string(cell, group->key[0] || !is_for_people ? group->key : "(none)");
	if (is_for_people && group->renamed_from)
		text_format(cell, " (was %s)", group->renamed_from);
	put_end(table);
}

static void put_tasks(struct table *table, const struct comparison *comparison,
		      const struct comparison_row *row)
{
	const struct compared_group *group = &comparison->groups.data[row->group];
	uint32_t before = group->tasks_before, after = group->tasks_after;

	if (!table_is_for_people(table)) {
		put_number(table, before);
		put_number(table, after);
	} else if (before == 0 && after == 0) {
		put_absent(table, NULL);
	} else {
		if (before != after)
			text_format(put_begin(table), "%" PRIu32 "→", before);
		text_format(put_begin(table), "%" PRIu32, after);
		put_end(table);
	}
}

static void put_metric(struct table *table, const struct comparison *comparison,
		       const struct comparison_row *row)
{
	(void)comparison;
	put_text(table, row->metric->name);
}

static void put_unit(struct table *table, const struct comparison *comparison,
		     const struct comparison_row *row)
{
	(void)comparison;
	put_text(table, metric_unit_name(row->metric->unit));
}

static void put_measured(struct table *table, const struct comparison *comparison,
			 const struct comparison_row *row)
{
	const struct compared_value *before = &row->before, *after = &row->after;
	struct text *cell = put_begin(table);

	(void)comparison;
	if (!table_is_for_people(table)) {
		put_number(table, before->measured);
		put_number(table, after->measured);
		return;
	}
	text_format(cell, "%" PRIu32 "/%" PRIu32, before->measured, before->population);
	if (after->measured != before->measured || after->population != before->population)
		text_format(cell, "→%" PRIu32 "/%" PRIu32, after->measured, after->population);
	put_end(table);
}

static void put_state(struct table *table, const struct comparison *comparison,
		      const struct comparison_row *row)
{
	(void)comparison;
	put_text(table, compare_state_name(row->state));
}

static void put_reason(struct table *table, const struct comparison *comparison,
		       const struct comparison_row *row)
{
	(void)comparison;
	if (row->state == ROW_ABSENT && row->reason)
		put_text(table, row->reason);
	else
		put_empty(table);
}

/* People read three decimal places of it. */
static void put_fraction(struct table *table, double fraction)
{
	if (table_is_for_people(table)) {
		text_format(put_begin(table), "%.3f", fraction);
		put_end(table);
	} else {
		put_real(table, fraction);
	}
}

static void put_share_of_change(struct table *table, const struct comparison *comparison,
				const struct comparison_row *row)
{
	(void)comparison;
	if (!table_is_for_people(table))
		put_real(table, row->share);
	else if (row->share > 0)
		put_share(table, row->share, 1);
	else
		put_absent(table, NULL);
}

static void put_p(struct table *table, const struct comparison *comparison,
		  const struct comparison_row *row)
{
	(void)comparison;
	if (row->significance.tested)
		put_fraction(table, row->significance.p);
	else
		put_absent(table, NULL);
}

static const struct table_column significance_columns[] = {
	/* clang-format off */
	{ .id = "p",      .inside = "significance" },
	{ .id = "noise",  .inside = "significance" },
	{ .id = "median", .inside = "significance before" },
	{ .id = "low",    .inside = "significance before" },
	{ .id = "high",   .inside = "significance before" },
	{ .id = "median", .inside = "significance after" },
	{ .id = "low",    .inside = "significance after" },
	{ .id = "high",   .inside = "significance after" },
	/* clang-format on */
};

static void put_significance(struct table *table, const struct comparison_row *row)
{
	const struct significance *runs = &row->significance;

	for (size_t i = 0; i < ARRAY_SIZE(significance_columns) && !runs->tested; i++)
		put_empty(table);
	if (!runs->tested)
		return;
	put_real(table, runs->p);
	put_flag(table, runs->is_noise);
	put_compared(table, row, &row->before);
	put_real(table, runs->before_low);
	put_real(table, runs->before_high);
	put_compared(table, row, &row->after);
	put_real(table, runs->after_low);
	put_real(table, runs->after_high);
}

#define IN_INTERVAL (1u << COMPARE_INTERVAL)
#define IN_POPULATION (1u << COMPARE_POPULATION)
#define ANY_MODE UINT_MAX

#define TEXT COMPARE_TEXT
#define JSON COMPARE_JSON
#define CSV COMPARE_CSV

/* Every column, in the order in which they are usual. */
static const struct {
	const char *name; /* NULL: for programs only, and cannot be chosen */
	enum table_alignment alignment;
	unsigned priority;
	unsigned usual;	    /* formats that have it without --columns */
	unsigned needs;	    /* text: only where rows have this */
	unsigned modes;	    /* where it is usual */
	const char *ids[2]; /* for programs; two: of before and after */
	compare_put *put;
} all_columns[] = {
	/* clang-format off */
	{ "section",    TABLE_LEFT,  0, JSON | CSV,        0, ANY_MODE, { "section" }, put_section },
	{ "group",      TABLE_NAME,  0, TEXT | JSON | CSV, 0, ANY_MODE, { "group" }, put_group },
	{ "tasks",      TABLE_RIGHT, 5, TEXT | CSV,        COMPARE_HAS_TASKS, ANY_MODE, { "tasks_before", "tasks_after" }, put_tasks },
	{ "metric",     TABLE_NAME,  0, TEXT | JSON | CSV, 0, ANY_MODE, { "metric" }, put_metric },
	{ "unit",       TABLE_LEFT,  0, JSON | CSV,        0, ANY_MODE, { "unit" }, put_unit },
	{ "values",     TABLE_LEFT,  0, JSON | CSV,        0, ANY_MODE, { "values" }, put_values },
	{ "before",     TABLE_RIGHT, 0, TEXT | JSON | CSV, 0, ANY_MODE, { "before" }, put_before },
	{ "after",      TABLE_RIGHT, 0, TEXT | JSON | CSV, 0, ANY_MODE, { "after" }, put_after },
	{ "arrow",      TABLE_RIGHT, 0, 0,                 0, ANY_MODE, { "before", "after" }, put_arrow },
	{ "interval",   TABLE_RIGHT, 0, JSON | CSV,        0, ANY_MODE, { "interval" }, put_interval },
	{ "delta",      TABLE_RIGHT, 0, TEXT | JSON | CSV, 0, ANY_MODE, { "delta" }, put_difference },
	{ "%",          TABLE_RIGHT, 1, TEXT | CSV,        COMPARE_HAS_PERCENT, ANY_MODE, { "percent" }, put_percent },
	{ "per_second", TABLE_RIGHT, 3, TEXT | JSON | CSV, COMPARE_HAS_RATE, IN_INTERVAL, { "per_second" }, put_rate },
	{ "per_task_second", TABLE_RIGHT, 3, TEXT | JSON | CSV, COMPARE_HAS_RATE, IN_POPULATION, { "per_task_second_before", "per_task_second_after" }, put_life_rate },
	{ "measured",   TABLE_RIGHT, 0, JSON | CSV,        0, ANY_MODE, { "measured_before", "measured_after" }, put_measured },
	{ "state",      TABLE_LEFT,  0, JSON | CSV,        0, ANY_MODE, { "state" }, put_state },
	{ NULL,         TABLE_LEFT,  0, JSON,              0, ANY_MODE, { "reason" }, put_reason },
	{ "share",      TABLE_RIGHT, 4, TEXT | JSON | CSV, COMPARE_HAS_SHARE, ANY_MODE, { "share" }, put_share_of_change },
	{ "p",          TABLE_RIGHT, 1, TEXT | CSV,        COMPARE_HAS_P, ANY_MODE, { "p" }, put_p },
	{ "uptime",     TABLE_RIGHT, 6, 0,                 COMPARE_HAS_TASKS, ANY_MODE, { "uptime_before", "uptime_after" }, put_uptime },
	{ "tags",       TABLE_LEFT,  0, 0,                 0, ANY_MODE, { "tags" }, put_tags },
	{ "note",       TABLE_NAME,  2, TEXT | JSON | CSV,              COMPARE_HAS_NOTE, IN_INTERVAL, { "by_ended" }, put_note },
	/* clang-format on */
};

static const char *column_name(size_t column)
{
	return all_columns[column].name;
}

static const struct column_names column_names = { COMPARE_COLUMNS, ARRAY_SIZE(all_columns),
						  column_name };

static bool has_column(const struct column_list *list, compare_put *put)
{
	for (size_t i = 0; i < list->count; i++)
		if (all_columns[list->ids[i]].put == put)
			return true;
	return false;
}

int compare_columns_parse(const char *list, struct column_list *ret, struct error *error)
{
	const char *at = list;
	int status = column_list_parse(&at, &column_names, ret, error);

	if (status < 0)
		return error_mark(error, status, list, (size_t)(at - list));
	if (has_column(ret, put_arrow) && (has_column(ret, put_before) || has_column(ret, put_after)))
		return error_set(error, -EINVAL,
				 "the column arrow has before and after: name it, or those two");
	return 0;
}

/* What --display shows; of each list, the columns that have something to say. */
static const struct {
	const char *name, *columns;
} displays[] = {
	/* clang-format off */
	{ "full",   "group,tasks,metric,before,after,delta,%,per_second,per_task_second,share,p,note" },
	{ "arrow",  "group,tasks,metric,arrow,delta,%,per_second,per_task_second,uptime,p,note" },
	{ "delta",  "group,tasks,metric,delta,%,per_second,per_task_second,p,note" },
	{ "no-pct", "group,tasks,metric,before,after,delta,per_second,per_task_second,note" },
	{ "pct",    "group,tasks,metric,%,share,p,note" },
	/* clang-format on */
};

void compare_display_find(const char *name, struct column_list *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(displays); i++)
		if (strcmp(displays[i].name, name) == 0) {
			const char *at = displays[i].columns;

			(void)column_list_parse(&at, &column_names, ret, NULL);
		}
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
	for (size_t i = 0; i < columns->keys; i++)
		snprintf(columns->ids[i].text, sizeof(columns->ids[i].text), "delta_%s",
			 metrics[view->sort.keys[i].metric].name);
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

/* Whether a format has the column, or the display that was asked for. */
static bool is_usual(const struct compare_view *view, size_t column, enum compare_format format)
{
	if (format == COMPARE_TEXT && view->display.count)
		return memchr(view->display.ids, (int)column, view->display.count);
	return all_columns[column].usual & format;
}

static void choose_columns(struct compare_table *rows, enum compare_format format, unsigned has)
{
	struct column_list *chosen = &rows->columns;

	*chosen = rows->view->columns;
	for (size_t i = 0; i < ARRAY_SIZE(all_columns) && rows->view->columns.count == 0; i++)
		if (is_usual(rows->view, i, format) &&
		    (all_columns[i].modes & 1u << rows->view->comparison->mode) &&
		    (all_columns[i].needs & has) == all_columns[i].needs)
			chosen->ids[chosen->count++] = (uint8_t)i;
}

static void add_column(struct compare_table *rows, size_t i, enum compare_format format)
{
	bool is_single = format == COMPARE_TEXT || !all_columns[i].ids[1];
	struct table_column column = {
		.title = all_columns[i].put == put_arrow ? "before → after" : all_columns[i].name,
		.alignment = all_columns[i].alignment,
		.priority = rows->view->columns.count ? 0 : all_columns[i].priority,
		.id = all_columns[i].ids[0],
	};

	table_add_column(&rows->table, column);
	if (is_single)
		return;
	column.id = all_columns[i].ids[1];
	table_add_column(&rows->table, column);
}

void compare_table_init(struct compare_table *rows, const struct compare_view *view,
			enum compare_format format, unsigned has, const struct sort_columns *sorted)
{
	*rows = (struct compare_table){ .view = view, .sorted = sorted };
	choose_columns(rows, format, has);
	for (size_t i = 0; i < rows->columns.count; i++)
		add_column(rows, rows->columns.ids[i], format);
	rows->has_significance = format == COMPARE_JSON && (has & COMPARE_HAS_P);
	if (rows->has_significance)
		table_add_columns(&rows->table, significance_columns,
				  ARRAY_SIZE(significance_columns));
	for (size_t i = 0; sorted && i < sorted->keys; i++)
		table_add_column(&rows->table,
				 (struct table_column){
					 .title = metrics[view->sort.keys[i].metric].name,
					 .alignment = TABLE_RIGHT,
					 .id = sorted->ids[i].text,
				 });
}

/* What the row moved in the metrics that groups are ordered by. */
static void put_sorted(struct compare_table *rows, const struct comparison *comparison,
		       const struct comparison_row *row)
{
	for (size_t i = 0; rows->sorted && i < rows->sorted->keys; i++) {
		const struct comparison_row *sort =
			row && comparison == rows->view->comparison ?
				sort_columns_at(rows->sorted, row->group, i) :
				NULL;

		if (sort && sort->delta.known)
			put_difference(&rows->table, rows->view->ordered, sort);
		else
			put_word(&rows->table, sort ? compare_state_name(sort->state) : "-");
	}
}

static void put_name(struct table *table, const char *name, uint32_t depth)
{
	static const uint32_t deepest = 20;

	text_format(put_begin(table), "%*s%s", (int)(2 * (depth < deepest ? depth : deepest)), "",
		    name);
	put_end(table);
}

static void put_row(struct compare_table *rows, const struct comparison *comparison,
		    const struct comparison_row *row, const char *name, uint32_t depth)
{
	for (size_t i = 0; i < rows->columns.count; i++) {
		compare_put *put = all_columns[rows->columns.ids[i]].put;

		if (name && put == put_group)
			put_name(&rows->table, name, depth);
		else if (row)
			put(&rows->table, comparison, row);
		else
			put_empty(&rows->table);
	}
	if (rows->has_significance)
		put_significance(&rows->table, row);
	put_sorted(rows, comparison, row);
}

void compare_table_put(struct compare_table *rows, const struct comparison_row *row)
{
	put_row(rows, rows->view->comparison, row, NULL, 0);
}

void compare_table_put_named(struct compare_table *rows, const struct comparison *comparison,
			     const struct comparison_row *row, const char *name, uint32_t depth)
{
	put_row(rows, comparison, row, name, depth);
}

void compare_table_put_all(struct compare_table *rows)
{
	const struct comparison *comparison = rows->view->comparison;
	size_t shown[COMPARE_SECTION_COUNT] = { 0 };

	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (!rows->view->limit || shown[row->section]++ < rows->view->limit)
			compare_table_put(rows, row);
	}
}

int compare_csv_print(const struct compare_view *view, FILE *out)
{
	CLEANUP(sort_columns_clear) struct sort_columns sorted = { 0 };
	struct compare_table rows;
	int status = sort_columns_init(&sorted, view);

	if (status < 0)
		return status;
	compare_table_init(&rows, view, COMPARE_CSV, COMPARE_HAS_ALL, &sorted);
	table_stream_csv(&rows.table, out);
	compare_table_put_all(&rows);
	status = rows.table.failed ? -ENOMEM : 0;
	table_clear(&rows.table);
	return status;
}
