/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/compare/compare_sections.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/compare/compare_absence.h"
#include "render/compare/compare_intro.h"
#include "render/compare/compare_sides.h"
#include "render/compare/compare_value.h"
#include "render/compare/compare_view.h"
#include "render/table/table.h"

/* Rows of a section that are shown, and how many are not. */
struct section_rows {
	ARRAY_OF(const struct comparison_row *) rows;
	uint64_t hidden, unchanged, noise;
	bool has_tasks, has_rate, has_p;
};

struct page {
	const struct compare_view *view;
	const struct comparison *comparison;
	struct section_rows sections[COMPARE_SECTION_COUNT];
	struct sort_columns sorted;
	bool has_partial, has_reset;
	bool is_empty; /* no section has shown a row */
};

static void page_free(struct page *page)
{
	for (int section = 0; section < COMPARE_SECTION_COUNT; section++)
		array_free(&page->sections[section].rows);
	sort_columns_clear(&page->sorted);
}

static int keep_row(struct section_rows *section, const struct compare_view *view,
		    const struct comparison_row *row)
{
	const struct compared_group *group = compare_group(view, row);

	if (view->limit && section->rows.count == view->limit) {
		section->hidden++;
		return 0;
	}
	section->has_tasks |= group->tasks_before || group->tasks_after;
	section->has_rate |= row->has_rate;
	section->has_p |= row->significance.tested;
	return array_append(&section->rows, row);
}

static int sort_out(struct page *page)
{
	const struct comparison *comparison = page->comparison;
	int status = 0;

	for (int id = 0; id < COMPARE_SECTION_COUNT; id++) {
		page->sections[id].hidden = comparison->tallies[id].beyond_limit;
		page->sections[id].unchanged = comparison->tallies[id].unchanged;
		page->sections[id].noise = comparison->tallies[id].noise;
	}
	for (size_t i = 0; i < comparison->rows.count && status == 0; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		status = keep_row(&page->sections[row->section], page->view, row);
	}
	return status;
}

/* The default columns, without --columns: what people ask first, and only what the section has. */
static void default_columns(const struct section_rows *section, struct compare_columns *ret)
{
	static const enum compare_column usual[] = {
		CHANGE_GROUP, CHANGE_TASKS,   CHANGE_METRIC,	 CHANGE_BEFORE, CHANGE_AFTER,
		CHANGE_DELTA, CHANGE_PERCENT, CHANGE_PER_SECOND, CHANGE_P,
	};

	ret->count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		if ((usual[i] == CHANGE_TASKS && !section->has_tasks) ||
		    (usual[i] == CHANGE_PER_SECOND && !section->has_rate) ||
		    (usual[i] == CHANGE_P && !section->has_p))
			continue;
		ret->ids[ret->count++] = usual[i];
	}
}

static enum table_alignment alignment_of(enum compare_column column)
{
	switch (column) {
	case CHANGE_GROUP:
	case CHANGE_METRIC:
		return TABLE_NAME;
	case CHANGE_SECTION:
	case CHANGE_UNIT:
	case CHANGE_STATE:
		return TABLE_LEFT;
	default:
		return TABLE_RIGHT;
	}
}

/* Columns that are left out first on a narrow terminal. */
static unsigned priority_of(enum compare_column column)
{
	switch (column) {
	case CHANGE_PER_SECOND:
		return 3;
	case CHANGE_TASKS:
		return 2;
	case CHANGE_PERCENT:
	case CHANGE_P:
		return 1;
	default:
		return 0;
	}
}

static void append_group(struct text *out, const struct compared_group *group)
{
	if (group->key[0])
		text_append_escaped(out, group->key, strlen(group->key));
	else
		text_append_string(out, "(none)");
	if (group->renamed_from) {
		text_append_string(out, " (was ");
		text_append_escaped(out, group->renamed_from, strlen(group->renamed_from));
		text_append_string(out, ")");
	}
}

static void append_tasks(struct text *out, const struct compared_group *group)
{
	if (group->tasks_before == 0 && group->tasks_after == 0)
		text_append_string(out, "-");
	else if (group->tasks_before == group->tasks_after)
		text_format(out, "%" PRIu32, group->tasks_after);
	else
		text_format(out, "%" PRIu32 "→%" PRIu32, group->tasks_before, group->tasks_after);
}

static void append_measured(struct text *out, const struct comparison_row *row)
{
	text_format(out, "%" PRIu32 "/%" PRIu32, row->before.measured, row->before.population);
	if (row->after.measured != row->before.measured ||
	    row->after.population != row->before.population)
		text_format(out, "→%" PRIu32 "/%" PRIu32, row->after.measured,
			    row->after.population);
}

static void append_part(struct text *out, bool known, double value)
{
	if (known)
		text_format(out, "%.3f", value);
	else
		text_append_string(out, "-");
}

static void append_cell(struct text *out, const struct page *page, const struct comparison_row *row,
			enum compare_column column)
{
	switch (column) {
	case CHANGE_SECTION:
		text_append_string(out, compare_section_name(row->section));
		break;
	case CHANGE_GROUP:
		append_group(out, compare_group(page->view, row));
		break;
	case CHANGE_TASKS:
		append_tasks(out, compare_group(page->view, row));
		break;
	case CHANGE_METRIC:
		text_append_escaped(out, row->metric->name, strlen(row->metric->name));
		break;
	case CHANGE_UNIT:
		text_append_string(out, metric_unit_name(compare_unit(row)));
		break;
	case CHANGE_BEFORE:
		compare_before_text(out, page->comparison, row);
		break;
	case CHANGE_AFTER:
		compare_after_text(out, page->comparison, row);
		break;
	case CHANGE_INTERVAL:
		if (row->interval.shape != VALUE_ABSENT)
			compare_value_text(out, row, &row->interval);
		break;
	case CHANGE_DELTA:
		compare_delta_text(out, row);
		break;
	case CHANGE_PERCENT:
		compare_percent_text(out, row);
		break;
	case CHANGE_PER_SECOND:
		compare_rate_text(out, page->comparison, row);
		break;
	case CHANGE_SHARE:
		append_part(out, row->share > 0, row->share);
		break;
	case CHANGE_MEASURED:
		append_measured(out, row);
		break;
	case CHANGE_STATE:
		text_append_string(out, compare_state_name(row->state));
		break;
	case CHANGE_P:
		append_part(out, row->significance.tested, row->significance.p);
		break;
	default:
		break;
	}
}

static enum table_mark mark_of(const struct comparison_row *row)
{
	if (!row->delta.known || row->delta.real == 0)
		return TABLE_PLAIN;
	return row->delta.is_negative ? TABLE_LESS : TABLE_MORE;
}

static void add_row(struct page *page, struct table *table, const struct compare_columns *columns,
		    const struct comparison_row *row)
{
	for (size_t i = 0; i < columns->count; i++) {
		enum compare_column column = columns->ids[i];

		append_cell(put_begin(table), page, row, column);
		if (column == CHANGE_DELTA || column == CHANGE_PERCENT)
			table_mark(table, mark_of(row));
		put_end(table);
	}
	for (size_t i = 0; i < page->sorted.keys; i++) {
		const struct comparison_row *sort = sort_columns_at(&page->sorted, row->group, i);

		if (sort && sort->delta.known)
			compare_delta_text(put_begin(table), sort);
		else
			text_append_string(put_begin(table),
					   sort ? compare_state_name(sort->state) : "-");
		table_mark(table, sort ? mark_of(sort) : TABLE_PLAIN);
		put_end(table);
	}
	page->has_partial |= compare_is_partial(&row->before) || compare_is_partial(&row->after);
	page->has_reset |= row->state == ROW_RESET;
}

static int print_table(struct page *page, const struct section_rows *section,
		       const struct terminal *terminal, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct compare_columns columns = page->view->columns;

	if (columns.count == 0)
		default_columns(section, &columns);
	for (size_t i = 0; i < columns.count; i++)
		table_add_column(&table, (struct table_column){
						 .title = compare_column_name(columns.ids[i]),
						 .alignment = alignment_of(columns.ids[i]),
						 .priority = page->view->columns.count ?
								     0 :
								     priority_of(columns.ids[i]),
					 });
	for (size_t i = 0; i < page->sorted.keys; i++)
		table_add_title(&table, metrics[page->view->sort.keys[i].metric].name, TABLE_RIGHT);
	for (size_t i = 0; i < section->rows.count; i++)
		add_row(page, &table, &columns, section->rows.data[i]);
	table.choice = "--columns";
	return table_print(&table, terminal, out);
}

static void append_count(struct text *out, uint64_t count, const char *before, const char *what)
{
	if (count)
		text_format(out, "%s%s%" PRIu64 " %s%s %s", out->length ? "; " : "", before, count,
			    before[0] ? "more row" : "row", count == 1 ? "" : "s", what);
}

/* Prints what the table does not show. */
static int print_rest(const struct section_rows *section, FILE *out)
{
	CLEANUP(text_free) struct text line = { 0 };

	append_count(&line, section->hidden, "… ", "(-n 0 shows all)");
	append_count(&line, section->noise, "", "within noise (--all shows them)");
	append_count(&line, section->unchanged, "", "unchanged or not measured");
	if (line.failed)
		return -ENOMEM;
	if (line.length)
		fprintf(out, "%s\n", line.data);
	return 0;
}

static int print_section(struct page *page, enum compare_section id,
			 const struct terminal *terminal, FILE *out)
{
	const struct section_rows *section = &page->sections[id];
	int status;

	if (section->rows.count == 0 && section->noise == 0)
		return 0;
	page->is_empty = false;
	fprintf(out, "\n## %s\n", compare_section_name(id));
	if (id == COMPARE_DERIVED && page->comparison->mode == COMPARE_INTERVAL)
		fputs("before: over the lives of the tasks until then; after, of ratios and "
		      "averages: over the interval alone\n",
		      out);
	status = section->rows.count ? print_table(page, section, terminal, out) : 0;
	return status < 0 ? status : print_rest(section, out);
}

/* Prints one line for all sections in which nothing happened. */
static int print_quiet(const struct page *page, FILE *out)
{
	CLEANUP(text_free) struct text line = { 0 };

	for (int id = 0; id < COMPARE_SECTION_COUNT; id++) {
		const struct section_rows *section = &page->sections[id];

		if (section->rows.count || section->noise || !section->unchanged)
			continue;
		text_format(&line, "%s%s (%" PRIu64 " row%s)", line.length ? ", " : "",
			    compare_section_name((enum compare_section)id), section->unchanged,
			    section->unchanged == 1 ? "" : "s");
	}
	if (line.failed)
		return -ENOMEM;
	if (line.length)
		fprintf(out, "\nnothing changed, or was measured, in %s\n", line.data);
	else if (page->is_empty)
		fputs("\nthere was nothing to compare\n", out);
	return 0;
}

static int print_footer(const struct page *page, FILE *out)
{
	CLEANUP(text_free) struct text footer = { 0 };

	if (page->has_partial)
		text_append_string(&footer, "* only part of the group was measured; --columns "
					    "group,metric,measured tells how many\n");
	if (page->has_reset)
		text_append_string(&footer, "reset: a counter began again in between, so what it "
					    "counted is not known\n");
	compare_absence_append(page->view, &footer);
	if (footer.failed)
		return -ENOMEM;
	if (footer.length)
		fprintf(out, "\n%s", footer.data);
	return 0;
}

static int print_page(struct page *page, const struct terminal *terminal, FILE *out)
{
	int status = sort_out(page);

	if (status == 0)
		status = sort_columns_init(&page->sorted, page->view);
	if (status == 0)
		status = compare_intro_print(page->view, terminal, out);
	for (int id = 0; id < COMPARE_SECTION_COUNT && status == 0; id++)
		status = print_section(page, (enum compare_section)id, terminal, out);
	if (status == 0)
		status = compare_sides_print(page->view, terminal, out);
	if (status == 0)
		status = print_quiet(page, out);
	return status < 0 ? status : print_footer(page, out);
}

int compare_text_print(const struct compare_view *view, const struct terminal *terminal, FILE *out)
{
	CLEANUP(page_free)
	struct page page = { .view = view, .comparison = view->comparison, .is_empty = true };

	return print_page(&page, terminal, out);
}
