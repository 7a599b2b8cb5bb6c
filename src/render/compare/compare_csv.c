/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_csv.h"

#include <errno.h>
#include <inttypes.h>

#include "analyze/compare/compare_sections.h"
#include "base/text.h"
#include "render/compare/compare_value.h"
#include "render/compare/compare_view.h"
#include "render/table/table.h"
#include "render/value.h"

#define PIECE ((size_t)256 * 1024)

/* The table while it is written; lines are collected here and written in large pieces. */
struct csv_table {
	const struct compare_view *view;
	const struct compare_columns *columns;
	struct sort_columns sorted;
	struct text lines;
	FILE *out;
	bool line_begun;
	int status;
};

/* All columns of a row, used without --columns. */
static const struct compare_columns all_columns = {
	.ids = { CHANGE_SECTION, CHANGE_GROUP, CHANGE_TASKS, CHANGE_METRIC, CHANGE_UNIT,
		 CHANGE_BEFORE, CHANGE_AFTER, CHANGE_INTERVAL, CHANGE_DELTA, CHANGE_PERCENT,
		 CHANGE_PER_SECOND, CHANGE_MEASURED, CHANGE_STATE, CHANGE_SHARE, CHANGE_P },
	.count = CHANGE_COLUMN_COUNT,
};

static struct text *next_field(struct csv_table *table)
{
	if (table->line_begun)
		text_append(&table->lines, ",", 1);
	table->line_begun = true;
	return &table->lines;
}

static void flush_lines(struct csv_table *table)
{
	if (table->lines.failed)
		table->status = -ENOMEM;
	else
		fwrite(text_string(&table->lines), 1, table->lines.length, table->out);
	text_clear(&table->lines);
}

static void end_line(struct csv_table *table)
{
	text_append(&table->lines, "\n", 1);
	table->line_begun = false;
	if (table->lines.length > PIECE)
		flush_lines(table);
}

static bool is_interval(const struct csv_table *table)
{
	return table->view->comparison->mode == COMPARE_INTERVAL;
}

/* Whether a column of both sides is two columns here. */
static bool is_double(const struct csv_table *table, enum compare_column column)
{
	return column == CHANGE_TASKS || column == CHANGE_MEASURED ||
	       (column == CHANGE_PER_SECOND && !is_interval(table));
}

static void write_header(struct csv_table *table)
{
	const struct sort_spec *sort = &table->view->sort;

	for (size_t i = 0; i < table->columns->count; i++) {
		enum compare_column column = table->columns->ids[i];
		const char *name =
			column == CHANGE_PERCENT ? "percent" : compare_column_name(column);

		if (is_double(table, column)) {
			text_format(next_field(table), "%s_before", name);
			text_format(next_field(table), "%s_after", name);
		} else {
			text_append_string(next_field(table), name);
		}
	}
	for (size_t i = 0; i < sort->count; i++)
		text_format(next_field(table), "delta_%s", metrics[sort->keys[i].metric].name);
	end_line(table);
}

static void write_real(struct csv_table *table, bool known, double value)
{
	struct text *field = next_field(table);

	if (known)
		text_format(field, "%.17g", value);
}

static void write_rates(struct csv_table *table, const struct comparison_row *row)
{
	if (is_interval(table)) {
		write_real(table, row->has_rate, row->per_second);
		return;
	}
	write_real(table, row->has_rate && row->has_rate_before, row->rate_before);
	write_real(table, row->has_rate && row->has_rate_after, row->rate_after);
}

static void write_percent(struct csv_table *table, const struct comparison_row *row)
{
	double percent = 0;
	bool known = compare_percent(row, &percent);

	write_real(table, known, percent);
}

static void write_field(struct csv_table *table, const struct comparison_row *row,
			enum compare_column column)
{
	const struct compared_group *group = compare_group(table->view, row);

	switch (column) {
	case CHANGE_SECTION:
		csv_append(next_field(table), compare_section_name(row->section));
		break;
	case CHANGE_GROUP:
		csv_append(next_field(table), group->key);
		break;
	case CHANGE_TASKS:
		text_format(next_field(table), "%" PRIu32, group->tasks_before);
		text_format(next_field(table), "%" PRIu32, group->tasks_after);
		break;
	case CHANGE_METRIC:
		csv_append(next_field(table), row->metric->name);
		break;
	case CHANGE_UNIT:
		csv_append(next_field(table), metric_unit_name(compare_unit(row)));
		break;
	case CHANGE_BEFORE:
		compare_value_csv(next_field(table), &row->before);
		break;
	case CHANGE_AFTER:
		compare_value_csv(next_field(table), &row->after);
		break;
	case CHANGE_INTERVAL:
		compare_value_csv(next_field(table), &row->interval);
		break;
	case CHANGE_DELTA:
		compare_delta_csv(next_field(table), &row->delta);
		break;
	case CHANGE_PERCENT:
		write_percent(table, row);
		break;
	case CHANGE_PER_SECOND:
		write_rates(table, row);
		break;
	case CHANGE_SHARE:
		write_real(table, true, row->share);
		break;
	case CHANGE_MEASURED:
		text_format(next_field(table), "%" PRIu32, row->before.measured);
		text_format(next_field(table), "%" PRIu32, row->after.measured);
		break;
	case CHANGE_STATE:
		text_append_string(next_field(table), compare_state_name(row->state));
		break;
	case CHANGE_P:
		write_real(table, row->significance.tested, row->significance.p);
		break;
	default:
		break;
	}
}

static void write_row(struct csv_table *table, const struct comparison_row *row)
{
	for (size_t i = 0; i < table->columns->count; i++)
		write_field(table, row, table->columns->ids[i]);
	for (size_t i = 0; i < table->sorted.keys; i++) {
		const struct comparison_row *sort = sort_columns_at(&table->sorted, row->group, i);
		struct text *field = next_field(table);

		if (sort)
			compare_delta_csv(field, &sort->delta);
	}
	end_line(table);
}

static void write_rows(struct csv_table *table)
{
	const struct comparison *comparison = table->view->comparison;
	size_t shown[COMPARE_SECTION_COUNT] = { 0 };

	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (!table->view->limit || shown[row->section]++ < table->view->limit)
			write_row(table, row);
	}
}

int compare_csv_print(const struct compare_view *view, FILE *out)
{
	struct csv_table table = {
		.view = view,
		.columns = view->columns.count ? &view->columns : &all_columns,
		.out = out,
	};
	int status = sort_columns_init(&table.sorted, view);

	if (status < 0)
		return status;
	write_header(&table);
	write_rows(&table);
	flush_lines(&table);
	text_free(&table.lines);
	sort_columns_clear(&table.sorted);
	return table.status;
}
