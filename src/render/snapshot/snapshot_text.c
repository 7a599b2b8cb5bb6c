/* SPDX-License-Identifier: MIT */
#include "render/snapshot/snapshot_view.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/sheet/sheet_view.h"
#include "render/table/table.h"

/* The page while it is made. */
struct page {
	const struct snapshot_view *view;
	const struct snapshot *snapshot;
	bool has_begun;	    /* a section was printed */
	bool has_partial;   /* some cell has a "*" that needs an explanation */
	bool has_elsewhere; /* some cell is empty because its process is in another group */
};

/* Prints what the tables leave open. */
static int print_footer(const struct page *page, FILE *out)
{
	const struct footer_scope scope = {
		.sections = page->view->sections,
		.is_verbose = page->view->is_verbose,
		.grouping = page->view->grouping,
		.groups = view_shown(page->view),
	};
	CLEANUP(text_free) struct text footer = { 0 };

	text_append_string(&footer, "\n");
	if (page->snapshot->interval_ns)
		text_format(&footer,
			    "what was done in a second, over %.3f s; %%cpu is of one core\n",
			    (double)page->snapshot->interval_ns / 1e9);
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

/* Prints the groups with these metrics. */
static int print_groups(struct page *page, const struct selection *selected, bool folds,
			const struct terminal *terminal, FILE *out)
{
	size_t hidden = page->view->grouping->group_count - view_shown(page->view);
	struct view_rows rows;
	int status;

	view_rows_init(&rows, page->view, selected, true);
	rows.table.folds = folds;
	rows.table.choice = folds ? NULL : "-m";
	view_rows_put_all(&rows);
	page->has_partial |= rows.has_partial;
	page->has_elsewhere |= rows.has_elsewhere;
	status = table_print(&rows.table, terminal, out);
	table_clear(&rows.table);
	if (status == 0 && hidden)
		fprintf(out, "… %zu more group%s (-n 0 shows all)\n", hidden,
			hidden == 1 ? "" : "s");
	return status;
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

	fputs(page->has_begun ? "\n" : "", out);
	style_line(out, terminal->colour, STYLE_HEADING, "## %s", metric_section_name(section));
	page->has_begun = true;
	select_measured(page, section, &shown);
	if (shown.count)
		status = print_groups(page, &shown, true, terminal, out);
	if (section >= SECTION_CGROUPS && section != SECTION_HOST &&
	    snapshot_is_run(page->snapshot) && !page->snapshot->sheets[SHEET_CGROUPS].row_count)
		fputs("absent: this file of a run has no readings of cgroups\n", out);
	if (status == 0)
		status = sheet_text_print(page->snapshot, section, page->view->limit,
					  shown.count == 0, terminal, out);
	return status;
}

static int print_page(struct page *page, const struct terminal *terminal, FILE *out)
{
	int status = 0;

	if (!page->view->sections)
		status = print_groups(page, &page->view->metrics, false, terminal, out);
	for (int section = 0; section < SECTION_COUNT && status == 0; section++)
		if (page->view->sections >> section & 1)
			status = print_section(page, (enum metric_section)section, terminal, out);
	return status < 0 ? status : print_footer(page, out);
}

int snapshot_text_print(const struct snapshot_view *view, const struct terminal *terminal,
			FILE *out)
{
	struct page page = { .view = view, .snapshot = view->grouping->snapshot };

	return print_page(&page, terminal, out);
}
