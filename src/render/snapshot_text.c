#include "render/snapshot_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot.h"
#include "render/capture_footer.h"
#include "render/snapshot_view.h"
#include "render/table.h"
#include "render/value.h"

/* The page while it is made. */
struct page {
	const struct snapshot_view *view;
	const struct snapshot *snapshot;
	struct table table;
	bool has_partial;   /* some cell has a "*" that wants explaining */
	bool has_elsewhere; /* some cell is empty because its process is in another group */
};

static const struct view_columns default_columns = {
	.ids = { COLUMN_GROUP, COLUMN_TASKS },
	.count = 2,
};

static enum table_alignment column_alignment(enum view_column column)
{
	switch (column) {
	case COLUMN_GROUP:
		return TABLE_NAME;
	case COLUMN_METRIC:
	case COLUMN_UNIT:
	case COLUMN_TAGS:
		return TABLE_LEFT;
	default:
		return TABLE_RIGHT;
	}
}

static enum table_alignment metric_alignment(const struct metric *metric)
{
	return metric->fold == FOLD_MODE || metric->fold == FOLD_CPUSET ? TABLE_LEFT : TABLE_RIGHT;
}

static void append_key(struct text *out, const char *key)
{
	if (key[0])
		text_append_escaped(out, key, strlen(key));
	else
		text_append_string(out, "(none)");
}

static void append_group_cell(struct page *page, const struct group *group, enum view_column column,
			      struct text *out)
{
	uint64_t age;

	switch (column) {
	case COLUMN_GROUP:
		append_key(out, group->key);
		break;
	case COLUMN_TASKS:
		text_format(out, "%" PRIu32, group->tasks);
		break;
	case COLUMN_PROCESSES:
		text_format(out, "%" PRIu32, group->processes);
		break;
	case COLUMN_UPTIME:
		if (view_age(page->view, group, &age))
			age_text(out, age);
		else
			text_append_string(out, "-");
		break;
	default:
		break;
	}
}

static void append_metric_cell(struct page *page, const struct fold *fold, enum view_column column,
			       struct text *out)
{
	CLEANUP(text_free) struct text tags = { 0 };

	switch (column) {
	case COLUMN_METRIC:
		text_append_string(out, fold->metric->name);
		break;
	case COLUMN_VALUE:
		value_text(out, page->snapshot, fold);
		break;
	case COLUMN_MEASURED:
		text_format(out, "%" PRIu32 "/%" PRIu32, fold->measured, fold->population);
		break;
	case COLUMN_UNIT:
		text_append_string(out, metric_unit_name(fold->metric->unit));
		break;
	case COLUMN_TAGS:
		metric_tags(&tags, fold->metric);
		text_append_string(out, text_string(&tags));
		break;
	default:
		break;
	}
}

static void fold_for(struct page *page, const struct group *group, enum metric_id id,
		     struct fold *ret)
{
	group_fold(page->view->grouping, group, id, ret);
	if (ret->shape != SHAPE_ABSENT && ret->measured < ret->population)
		page->has_partial = true;
	if (ret->metric->scope == SCOPE_PROCESS && ret->population == 0)
		page->has_elsewhere = true;
}

static void add_columns(struct page *page, const struct view_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		table_add_column(&page->table, view_column_name(columns->ids[i]),
				 column_alignment(columns->ids[i]));
	for (size_t i = 0; i < page->view->metrics.count && !columns->is_long; i++) {
		const struct metric *metric = &metrics[page->view->metrics.ids[i]];

		table_add_column(&page->table, metric->name, metric_alignment(metric));
	}
}

static void add_wide_row(struct page *page, const struct view_columns *columns,
			 const struct group *group)
{
	struct fold fold;

	for (size_t i = 0; i < columns->count; i++) {
		append_group_cell(page, group, columns->ids[i], table_cell(&page->table));
		table_end_cell(&page->table);
	}
	for (size_t i = 0; i < page->view->metrics.count; i++) {
		fold_for(page, group, page->view->metrics.ids[i], &fold);
		value_text(table_cell(&page->table), page->snapshot, &fold);
		table_end_cell(&page->table);
	}
}

static void add_long_rows(struct page *page, const struct view_columns *columns,
			  const struct group *group)
{
	for (size_t m = 0; m < page->view->metrics.count; m++) {
		struct fold fold;

		fold_for(page, group, page->view->metrics.ids[m], &fold);
		for (size_t i = 0; i < columns->count; i++) {
			if (columns->ids[i] < COLUMN_METRIC)
				append_group_cell(page, group, columns->ids[i],
						  table_cell(&page->table));
			else
				append_metric_cell(page, &fold, columns->ids[i],
						   table_cell(&page->table));
			table_end_cell(&page->table);
		}
	}
}

static void fill_table(struct page *page)
{
	const struct view_columns *columns =
		page->view->columns.count ? &page->view->columns : &default_columns;
	const struct group *groups = page->view->grouping->groups;

	add_columns(page, columns);
	for (size_t i = 0; i < view_shown(page->view); i++) {
		if (columns->is_long)
			add_long_rows(page, columns, &groups[i]);
		else
			add_wide_row(page, columns, &groups[i]);
	}
}

static void append_hidden(struct text *out, const struct snapshot_view *view)
{
	size_t hidden = view->grouping->group_count - view_shown(view);

	if (hidden)
		text_format(out, "… %zu more group%s (-n 0 shows all)\n", hidden,
			    hidden == 1 ? "" : "s");
}

static int print_page(struct page *page, const struct terminal *terminal, FILE *out)
{
	CLEANUP(text_free) struct text footer = { 0 };
	int status;

	fill_table(page);
	append_hidden(&footer, page->view);
	text_append_string(&footer, "\n");
	if (page->has_partial)
		text_append_string(&footer, "* only part of the group was measured\n");
	if (page->has_elsewhere)
		text_append_string(&footer, "a process counts once, in the group of its first "
					    "thread\n");
	capture_footer(page->snapshot, &page->view->metrics, &footer);
	status = table_print(&page->table, terminal, out);
	if (status < 0 || footer.failed)
		return -ENOMEM;
	fwrite(footer.data, 1, footer.length, out);
	return 0;
}

int snapshot_text_print(const struct snapshot_view *view, const struct terminal *terminal,
			FILE *out)
{
	struct page page = { .view = view, .snapshot = view->grouping->snapshot };
	int status = print_page(&page, terminal, out);

	table_clear(&page.table);
	return status;
}
