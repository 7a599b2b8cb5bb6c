/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/compare/compare_sections.h"
#include "analyze/digest/digest.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "render/compare/compare_parts.h"
#include "render/compare/compare_value.h"
#include "render/table/table.h"

/* How many rows of a section are shown and how many are not, and what those shown have. */
struct section_rows {
	size_t shown;
	uint64_t hidden;
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

static bool has_note(const struct comparison *comparison, const struct comparison_row *row)
{
	return row->state != ROW_CHANGED || row->by_ended ||
	       row->values == VALUES_PER_TASK_SECOND ||
	       (row->metric == &metrics[METRIC_run_time_ns] &&
		comparison->groups.data[row->group].children_ns);
}

static void count_row(struct page *page, const struct comparison_row *row)
{
	const struct compared_group *group = &page->comparison->groups.data[row->group];
	struct section_rows *section = &page->sections[row->section];

	if (page->view->limit && section->shown == page->view->limit) {
		section->hidden++;
		return;
	}
	section->shown++;
	section->has |= (group->tasks_before || group->tasks_after ? COMPARE_HAS_TASKS : 0) |
			(row->has_rate ? COMPARE_HAS_RATE : 0) |
			(compare_has_percent(page->comparison, row) ? COMPARE_HAS_PERCENT : 0) |
			(row->share > 0 ? COMPARE_HAS_SHARE : 0) |
			(has_note(page->comparison, row) ? COMPARE_HAS_NOTE : 0) |
			(row->significance.tested ? COMPARE_HAS_P : 0);
}

static void count_rows(struct page *page)
{
	for (int id = 0; id < COMPARE_SECTION_COUNT; id++)
		page->sections[id].hidden = page->comparison->tallies[id].beyond_limit;
	for (size_t i = 0; i < page->comparison->rows.count; i++)
		count_row(page, &page->comparison->rows.data[i]);
}

/* The rows of a section that are shown, the best first; the caller frees them.  NULL: no memory. */
static const struct comparison_row **gather_rows(struct page *page, enum compare_section id)
{
	const struct comparison_row *row = page->comparison->rows.data;
	const struct comparison_row **shown = calloc(page->sections[id].shown + 1, sizeof(*shown));

	for (size_t count = 0; shown && count < page->sections[id].shown; row++) {
		if (row->section != id)
			continue;
		page->has_partial |=
			compare_is_partial(&row->before) || compare_is_partial(&row->after);
		page->has_reset |= row->state == ROW_RESET;
		shown[count++] = row;
	}
	return shown;
}

static int put_rows(const struct page *page, enum compare_section id, struct compare_table *rows,
		    const struct comparison_row *const *shown)
{
	size_t count = page->sections[id].shown;

	if (page->view->axis == AXIS_ALL && METRIC_COMPARE_SECTIONS >> id & 1)
		return compare_table_put_tree(rows, shown, count);
	for (size_t i = 0; i < count; i++)
		compare_table_put(rows, shown[i]);
	return 0;
}

static int print_table(struct page *page, enum compare_section id, const struct terminal *terminal,
		       FILE *out)
{
	CLEANUP(free_pointer) const struct comparison_row **shown = gather_rows(page, id);
	struct compare_table rows;
	int status;

	if (!shown)
		return -ENOMEM;
	compare_table_init(&rows, page->view, COMPARE_TEXT, page->sections[id].has, &page->sorted);
	status = put_rows(page, id, &rows, shown);
	rows.table.choice = "--columns";
	if (status == 0)
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
static int print_rest(const struct page *page, enum compare_section id, FILE *out)
{
	const struct row_tally *tally = &page->comparison->tallies[id];
	CLEANUP(text_free) struct text line = { 0 };

	append_count(&line, page->sections[id].hidden, "… ", "(-n 0 shows all)");
	append_count(&line, tally->noise, "", "within noise (--all shows them)");
	append_count(&line, tally->unchanged, "", "unchanged or not measured");
	if (line.failed)
		return -ENOMEM;
	if (line.length)
		fprintf(out, "%s\n", line.data);
	return 0;
}

static int print_section(struct page *page, enum compare_section id,
			 const struct terminal *terminal, FILE *out)
{
	size_t shown = page->sections[id].shown;
	int status;

	if (shown == 0 && page->comparison->tallies[id].noise == 0)
		return 0;
	page->is_empty = false;
	fputc('\n', out);
	style_line(out, terminal->colour, STYLE_HEADING, "## %s", compare_section_name(id));
	if (id == COMPARE_DERIVED && page->comparison->mode == COMPARE_INTERVAL)
		fputs("before: over the lives of the tasks until then; after, of ratios and "
		      "averages: over the interval alone\n",
		      out);
	status = shown ? print_table(page, id, terminal, out) : 0;
	return status < 0 ? status : print_rest(page, id, out);
}

/* Prints one line for all sections in which nothing happened. */
static int print_quiet(const struct page *page, FILE *out)
{
	CLEANUP(text_free) struct text line = { 0 };

	for (int id = 0; id < COMPARE_SECTION_COUNT; id++) {
		const struct row_tally *tally = &page->comparison->tallies[id];

		if (page->sections[id].shown || tally->noise || !tally->unchanged)
			continue;
		text_format(&line, "%s%s (%" PRIu64 " row%s)", line.length ? ", " : "",
			    compare_section_name((enum compare_section)id), tally->unchanged,
			    tally->unchanged == 1 ? "" : "s");
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
					    "group,metric,measured shows how many\n");
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

/* The answer comes first; the tables are its evidence. */
static void print_digest(const struct digest *digest, bool colour, FILE *out)
{
	if (!digest)
		return;
	for (size_t i = 0; i < digest->lines.count; i++)
		style_line(out, colour, STYLE_HEADING, "%s", digest->lines.data[i].sentence);
	fputs("\n", out);
}

static int print_page(struct page *page, const struct terminal *terminal, FILE *out)
{
	int status = sort_columns_init(&page->sorted, page->view);

	count_rows(page);
	print_digest(page->view->digest, terminal->colour, out);
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
	struct page page = { .view = view, .comparison = view->comparison, .is_empty = true };
	int status = print_page(&page, terminal, out);

	sort_columns_clear(&page.sorted);
	return status;
}
