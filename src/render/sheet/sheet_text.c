/* SPDX-License-Identifier: MIT */
#include "render/sheet/sheet_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/value.h"
#include "render/table/table.h"

/* One table while it is made. */
struct sheet_page {
	const struct snapshot *snapshot;
	const struct sheet *sheet;
	enum sheet_id id;
	enum metric_section section;
	size_t limit;
	bool is_first; /* no table comes before it */
	const struct terminal *terminal;
	FILE *out;
};

static bool is_of_section(const struct sheet_page *page, const struct column *column)
{
	return column->metric->section == page->section;
}

/* Whether the column is in the section and has anything to show. */
static bool is_shown(const struct sheet_page *page, const struct column *column)
{
	return is_of_section(page, column) && column_measured(column, page->sheet->row_count) > 0;
}

static size_t rows_shown(const struct sheet_page *page)
{
	size_t rows = page->sheet->row_count;

	return page->limit && page->limit < rows ? page->limit : rows;
}

static void put_row_name(struct table *table, const struct sheet_page *page, uint32_t row)
{
	const struct snapshot *snapshot = page->snapshot;
	uint32_t key = page->sheet->keys[row];
	const struct process *process;

	if (page->id == SHEET_CGROUPS) {
		put_text(table, snapshot_text(snapshot, key));
		return;
	}
	process = &snapshot->processes[key];
	text_format(put_begin(table), "%s[%" PRId32 "]", snapshot_text(snapshot, process->pcomm),
		    process->tgid);
	put_end(table);
}

static enum table_alignment reading_alignment(const struct column *column)
{
	return column->metric->unit == UNIT_TEXT ? TABLE_LEFT : TABLE_RIGHT;
}

static void add_row(struct table *table, const struct sheet_page *page, uint32_t row)
{
	put_row_name(table, page, row);
	for (size_t i = 0; i < page->sheet->columns.count; i++) {
		const struct column *column = &page->sheet->columns.data[i];

		if (is_shown(page, column))
			put_column(table, page->snapshot, column, row);
	}
}

static void set_apart(struct sheet_page *page)
{
	if (!page->is_first)
		fputs("\n", page->out);
	page->is_first = false;
}

/* Length of the first word that all shown columns share, with its blank: it says nothing then. */
static size_t common_word(const struct sheet_page *page)
{
	const char *first = NULL;
	size_t length = 0;

	for (size_t i = 0; i < page->sheet->columns.count; i++) {
		const struct column *column = &page->sheet->columns.data[i];

		if (!is_shown(page, column))
			continue;
		if (!first) {
			first = column->metric->name;
			length = strcspn(first, " ") + 1;
		}
		if (strlen(column->metric->name) <= length ||
		    strncmp(first, column->metric->name, length) != 0)
			return 0;
	}
	return length;
}

/* Prints a row for each cgroup or process. */
static int print_rows(struct sheet_page *page)
{
	CLEANUP(table_clear) struct table table = { .folds = true };
	size_t hidden = page->sheet->row_count - rows_shown(page);
	const char *what = page->id == SHEET_CGROUPS ? "cgroup" : "process";
	size_t skip = common_word(page);

	table_add_title(&table, what, TABLE_NAME);
	for (size_t i = 0; i < page->sheet->columns.count; i++) {
		const struct column *column = &page->sheet->columns.data[i];

		if (is_shown(page, column))
			table_add_title(&table, column->metric->name + skip,
					reading_alignment(column));
	}
	if (table.columns.count == 1)
		return 0;
	for (uint32_t row = 0; row < rows_shown(page); row++)
		add_row(&table, page, row);
	set_apart(page);
	if (table_print(&table, page->terminal, page->out) < 0)
		return -ENOMEM;
	if (hidden)
		fprintf(page->out, "… %zu more %s (-n 0 shows all)\n", hidden,
			page->id == SHEET_CGROUPS ? "cgroups" : "processes");
	return 0;
}

/* Prints a line for each reading: the host and the capture have only one row. */
static int print_list(struct sheet_page *page)
{
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_title(&table, sheet_name(page->id), TABLE_NAME);
	table_add_title(&table, "value", TABLE_NAME);
	for (size_t i = 0; i < page->sheet->columns.count; i++) {
		const struct column *column = &page->sheet->columns.data[i];

		if (!is_shown(page, column))
			continue;
		put_text(&table, column->metric->name);
		put_column(&table, page->snapshot, column, 0);
	}
	if (!table.cells.count)
		return 0;
	set_apart(page);
	return table_print(&table, page->terminal, page->out);
}

/* Prints a line for each fact about the host. */
static int print_facts(const struct snapshot *snapshot, const struct terminal *terminal, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_title(&table, "host", TABLE_LEFT);
	table_add_title(&table, "value", TABLE_NAME);
	for (int id = 0; id < FACT_COUNT; id++) {
		if (!snapshot->facts[id].present)
			continue;
		put_text(&table, facts[id].name);
		put_fact(&table, snapshot, (enum fact_id)id);
	}
	return table.cells.count ? table_print(&table, terminal, out) : 0;
}

static int print_notes(const struct sheet_page *page)
{
	CLEANUP(text_free) struct text lines = { 0 };

	for (int kind = 0; kind < SHEET_NOTE_COUNT; kind++)
		if (sheet_notes_append(page->sheet, kind, 1u << page->section, &lines) < 0)
			return -ENOMEM;
	fwrite(text_string(&lines), 1, lines.length, page->out);
	return 0;
}

static int print_sheet(struct sheet_page *page)
{
	int status;

	if (page->section == SECTION_PRESSURE)
		status = 0; /* both sheets have it: see pressure_text_print() */
	else if (page->id == SHEET_CGROUPS || page->id == SHEET_PROCESSES)
		status = print_rows(page);
	else
		status = print_list(page);
	return status < 0 ? status : print_notes(page);
}

int sheet_text_print(const struct snapshot *snapshot, enum metric_section section, size_t limit,
		     bool is_first, const struct terminal *terminal, FILE *out)
{
	struct sheet_page page = { .snapshot = snapshot,
				   .section = section,
				   .limit = limit,
				   .is_first = is_first && section != SECTION_HOST,
				   .terminal = terminal,
				   .out = out };
	int status = 0;

	if (section == SECTION_HOST)
		status = print_facts(snapshot, terminal, out);
	if (section == SECTION_PRESSURE)
		status = pressure_text_print(snapshot, limit, terminal, out);
	for (int id = 0; id < SHEET_STATES && status == 0; id++) {
		page.id = (enum sheet_id)id;
		page.sheet = &snapshot->sheets[id];
		status = print_sheet(&page);
	}
	return status;
}
