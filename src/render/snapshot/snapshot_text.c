/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_text.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_footer.h"
#include "render/sheet/sheet_text.h"
#include "render/snapshot/snapshot_view.h"
#include "render/table/table.h"

/* The page while it is made. */
struct page {
	const struct snapshot_view *view;
	const struct snapshot *snapshot;
	const struct selection *metrics; /* of the table */
	struct table table;
	bool has_begun;	    /* a section was printed */
	bool has_partial;   /* some cell has a "*" that needs an explanation */
	bool has_elsewhere; /* some cell is empty because its process is in another group */
};

static enum table_alignment column_alignment(enum view_column column)
{
	switch (column) {
	case COLUMN_GROUP:
		return TABLE_NAME;
	case COLUMN_SCOPE:
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

static void fold_for(struct page *page, const struct group *group, enum metric_id id,
		     struct fold *ret)
{
	group_fold(page->view->grouping, group, id, ret);
	if (ret->shape != SHAPE_ABSENT && ret->measured < ret->population)
		page->has_partial = true;
	if (ret->metric->scope == METRIC_OF_PROCESS && ret->population == 0)
		page->has_elsewhere = true;
}

static void add_columns(struct page *page, const struct view_columns *columns)
{
	for (size_t i = 0; i < columns->count; i++)
		table_add_title(&page->table, view_column_name(columns->ids[i]),
				column_alignment(columns->ids[i]));
	for (size_t i = 0; i < page->metrics->count && !columns->is_long; i++) {
		const struct metric *metric = &metrics[page->metrics->ids[i]];

		table_add_column(&page->table,
				 (struct table_column){
					 .title = metric->name,
					 .alignment = metric_alignment(metric),
					 .priority = page->view->may_leave_out ? i : 0,
				 });
	}
}

static void add_wide_row(struct page *page, const struct view_columns *columns,
			 const struct group *group)
{
	struct fold fold;

	for (size_t i = 0; i < columns->count; i++)
		view_put(&page->table, page->view, group, NULL, columns->ids[i], FOR_PEOPLE);

	for (size_t i = 0; i < page->metrics->count; i++) {
		fold_for(page, group, page->metrics->ids[i], &fold);
		put_fold(&page->table, &fold);
	}
}

static void add_long_rows(struct page *page, const struct view_columns *columns,
			  const struct group *group)
{
	for (size_t m = 0; m < page->metrics->count; m++) {
		struct fold fold;

		fold_for(page, group, page->metrics->ids[m], &fold);
		for (size_t i = 0; i < columns->count; i++)
			view_put(&page->table, page->view, group, &fold, columns->ids[i],
				 FOR_PEOPLE);
	}
}

static void fill_table(struct page *page)
{
	const struct view_columns *columns = view_columns_for_people(page->view);
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

/* Prints what the tables leave open. */
static int print_footer(const struct page *page, FILE *out)
{
	const struct footer_scope scope = { page->view->sections, page->view->is_verbose };
	CLEANUP(text_free) struct text footer = { 0 };

	text_append_string(&footer, "\n");
	if (page->has_partial)
		text_append_string(&footer, "* only part of the group was measured\n");
	if (page->has_elsewhere)
		text_append_string(&footer, "a process counts once, in the group of its first "
					    "thread\n");
	capture_footer(page->snapshot, &page->view->metrics, &scope, &footer);
	if (footer.failed)
		return -ENOMEM;
	fwrite(footer.data, 1, footer.length, out);
	return 0;
}

static int print_hidden(const struct page *page, FILE *out)
{
	CLEANUP(text_free) struct text line = { 0 };

	append_hidden(&line, page->view);
	if (line.failed)
		return -ENOMEM;
	fwrite(text_string(&line), 1, line.length, out);
	return 0;
}

static int print_overview(struct page *page, const struct terminal *terminal, FILE *out)
{
	int status;

	page->metrics = &page->view->metrics;
	page->table.choice = "-m";
	fill_table(page);
	status = table_print(&page->table, terminal, out);
	return status < 0 ? status : print_hidden(page, out);
}

static bool is_measured(const struct snapshot *snapshot, enum metric_id id)
{
	const struct formula *formula = &metrics[id].formula;

	if (!metric_is_derived(id))
		return snapshot_measured(snapshot, id) > 0;
	for (unsigned i = 0; i < formula->count; i++)
		if (!snapshot_measured(snapshot, formula->inputs[i]))
			return false;
	return true;
}

/* Selects the section's metrics that some task has: others would be columns of "-". */
static void select_measured(const struct page *page, enum metric_section section,
			    struct selection *ret)
{
	const struct selection *wanted = &page->view->metrics;

	for (size_t i = 0; i < wanted->count; i++) {
		enum metric_id id = wanted->ids[i];

		if (metrics[id].section == section && is_measured(page->snapshot, id))
			selection_add(ret, id);
	}
}

static int print_section(struct page *page, enum metric_section section,
			 const struct terminal *terminal, FILE *out)
{
	struct selection shown = { .count = 0 };
	int status = 0;

	fprintf(out, "%s## %s\n", page->has_begun ? "\n" : "", metric_section_name(section));
	page->has_begun = true;
	select_measured(page, section, &shown);
	if (shown.count) {
		page->metrics = &shown;
		fill_table(page);
		page->table.folds = true;
		status = table_print(&page->table, terminal, out);
		table_clear(&page->table);
		if (status == 0)
			status = print_hidden(page, out);
	}
	if (section >= SECTION_CGROUPS && section != SECTION_HOST &&
	    snapshot_is_run(page->snapshot))
		fputs("absent: the file of a run does not have it\n", out);
	if (status == 0)
		status = sheet_text_print(page->snapshot, section, page->view->limit,
					  shown.count == 0, terminal, out);
	return status;
}

static int print_page(struct page *page, const struct terminal *terminal, FILE *out)
{
	int status = 0;

	if (!page->view->sections)
		status = print_overview(page, terminal, out);
	for (int section = 0; section < SECTION_COUNT && status == 0; section++)
		if (page->view->sections >> section & 1)
			status = print_section(page, (enum metric_section)section, terminal, out);
	return status < 0 ? status : print_footer(page, out);
}

int snapshot_text_print(const struct snapshot_view *view, const struct terminal *terminal,
			FILE *out)
{
	struct page page = { .view = view, .snapshot = view->grouping->snapshot };
	int status = print_page(&page, terminal, out);

	table_clear(&page.table);
	return status;
}
