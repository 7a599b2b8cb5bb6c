/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_view.h"

#include <errno.h>
#include <inttypes.h>

#include "analyze/compare/compare_sections.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/compare/compare_parts.h"
#include "render/compare/compare_value.h"
#include "render/table/table.h"

/* Rows of a section that are shown, and how many are not. */
struct section_rows {
	ARRAY_OF(const struct comparison_row *) rows;
	uint64_t hidden, unchanged, noise;
	unsigned has; /* COMPARE_HAS_... */
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
	const struct compared_group *group = &view->comparison->groups.data[row->group];

	if (view->limit && section->rows.count == view->limit) {
		section->hidden++;
		return 0;
	}
	section->has |= (group->tasks_before || group->tasks_after ? COMPARE_HAS_TASKS : 0) |
			(row->has_rate ? COMPARE_HAS_RATE : 0) |
			(row->significance.tested ? COMPARE_HAS_P : 0);
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

static int print_table(struct page *page, const struct section_rows *section,
		       const struct terminal *terminal, FILE *out)
{
	struct compare_table rows;
	int status;

	compare_table_init(&rows, page->view, COMPARE_TEXT, section->has, &page->sorted);
	for (size_t i = 0; i < section->rows.count; i++) {
		const struct comparison_row *row = section->rows.data[i];

		compare_table_put(&rows, row);
		page->has_partial |=
			compare_is_partial(&row->before) || compare_is_partial(&row->after);
		page->has_reset |= row->state == ROW_RESET;
	}
	rows.table.choice = "--columns";
	status = table_print(&rows.table, terminal, out);
	table_clear(&rows.table);
	return status;
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
