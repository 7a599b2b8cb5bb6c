/* SPDX-License-Identifier: MIT */
/*
 * Paints text in aligned columns that fit the terminal.  First, columns that
 * may be left out go, by priority; then names are cut in the middle.  Columns
 * that still do not fit continue below, after the first column again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "render/table/table.h"

#define GAP 2
#define NARROWEST_NAME 12
#define COMPARED_NAMES 1000

/* A table while it is printed. */
struct sheet {
	const struct table *table;
	struct text text;	/* of all cells as people see them */
	ARRAY_OF(size_t) cells; /* where each starts in it */
	size_t *widths;		/* of the columns; 0: not shown */
	size_t *whole;		/* the widths that they need */
	size_t *heads;		/* how much is left of the beginning of a name that is cut */
	struct text out;
	bool colour;
};

static void sheet_free(struct sheet *sheet)
{
	text_free(&sheet->text);
	array_free(&sheet->cells);
	free(sheet->widths);
	free(sheet->whole);
	free(sheet->heads);
	text_free(&sheet->out);
}

static const char *cell_at(const struct sheet *sheet, size_t row, size_t column)
{
	return sheet->text.data + sheet->cells.data[row * sheet->table->columns.count + column];
}

static int make_cells(struct sheet *sheet)
{
	const struct table *table = sheet->table;

	for (size_t i = 0; i < table_rows(table) * table->columns.count; i++) {
		const struct cell *cell = &table->cells.data[i];

		if (array_append(&sheet->cells, sheet->text.length) < 0)
			return -ENOMEM;
		cell_text(&sheet->text, table, cell);
		text_append(&sheet->text, "", 1);
	}
	return sheet->text.failed ? -ENOMEM : 0;
}

static void measure(struct sheet *sheet)
{
	const struct table *table = sheet->table;

	for (size_t i = 0; i < table->columns.count; i++) {
		const char *title = table->columns.data[i].title;

		if (!title)
			continue;
		/* A column without a title and cells still takes room. */
		sheet->widths[i] = text_width(title) ? text_width(title) : 1;
		for (size_t row = 0; row < table_rows(table); row++) {
			size_t width = text_width(cell_at(sheet, row, i));

			if (width > sheet->widths[i])
				sheet->widths[i] = width;
		}
		sheet->whole[i] = sheet->widths[i];
	}
}

/* The smallest width of a column. */
static size_t least_width(const struct sheet *sheet, size_t column)
{
	size_t width = sheet->widths[column];
	bool is_name = sheet->table->columns.data[column].alignment == TABLE_NAME;

	return is_name && width > NARROWEST_NAME ? NARROWEST_NAME : width;
}

static size_t least_total(const struct sheet *sheet)
{
	size_t total = 0;

	for (size_t i = 0; i < sheet->table->columns.count; i++)
		if (sheet->widths[i])
			total += least_width(sheet, i) + (total ? GAP : 0);
	return total;
}

/* Leaves out columns until the rest fits, or no more may be left out. */
static void leave_out(struct sheet *sheet, size_t available)
{
	const struct table *table = sheet->table;

	while (least_total(sheet) > available) {
		size_t last = table->columns.count;

		for (size_t i = 0; i < table->columns.count; i++)
			if (sheet->widths[i] && table->columns.data[i].priority &&
			    (last == table->columns.count ||
			     table->columns.data[i].priority >= table->columns.data[last].priority))
				last = i;
		if (last == table->columns.count)
			return;
		sheet->widths[last] = 0;
	}
}

/* The widest column; one of names if such a column can shrink. */
static size_t find_widest(const struct sheet *sheet)
{
	size_t widest = sheet->table->columns.count;

	for (size_t i = 0; i < sheet->table->columns.count; i++)
		if (sheet->widths[i] > least_width(sheet, i) &&
		    (widest == sheet->table->columns.count ||
		     sheet->widths[i] > sheet->widths[widest]))
			widest = i;
	return widest;
}

static size_t total_width(const struct sheet *sheet)
{
	size_t total = 0;

	for (size_t i = 0; i < sheet->table->columns.count; i++)
		if (sheet->widths[i])
			total += sheet->widths[i] + (total ? GAP : 0);
	return total;
}

/* Shrinks the names by as much as the rows are too wide. */
static void narrow_names(struct sheet *sheet, size_t available)
{
	for (size_t total = total_width(sheet); total > available; total--) {
		size_t widest = find_widest(sheet);

		if (widest == sheet->table->columns.count)
			return;
		sheet->widths[widest]--;
	}
}

static void append_blanks(struct text *line, size_t count)
{
	while (count--)
		text_append(line, " ", 1);
}

static void append_cell(struct text *line, const char *string, size_t width, size_t head,
			enum table_alignment alignment, enum style mark)
{
	size_t full = text_width(string), taken;

	if (alignment == TABLE_RIGHT && full < width)
		append_blanks(line, width - full);
	text_append_string(line, style_on(true, mark));
	taken = text_append_cut_at(line, string, width, head);
	text_append_string(line, style_off(true, mark));
	if (alignment != TABLE_RIGHT)
		append_blanks(line, taken < width ? width - taken : 0);
}

/* A range of columns, printed with the table's first column before it. */
struct stretch {
	size_t from, to;
};

/* Appends the titles, or a row. */
static void append_line(struct sheet *sheet, const struct stretch *part, const size_t *row)
{
	const struct table *table = sheet->table;
	struct text *out = &sheet->out;
	size_t start = out->length;

	for (size_t i = 0; i < part->to; i++) {
		const struct table_column *column = &table->columns.data[i];
		uint8_t mark = row && sheet->colour ? table_at(table, *row, i)->mark : STYLE_PLAIN;

		if (!sheet->widths[i] || (i > 0 && i < part->from))
			continue;
		append_blanks(out, i > 0 ? GAP : 0);
		append_cell(out, row ? cell_at(sheet, *row, i) : column->title, sheet->widths[i],
			    sheet->heads[i], column->alignment, mark);
	}
	while (out->length > start && out->data[out->length - 1] == ' ')
		out->length--;
}

/* How many cells of a column differ when they are cut; 0 without memory. */
static size_t count_different(const struct sheet *sheet, size_t column, size_t width, size_t head)
{
	struct dictionary *seen = dictionary_new();
	CLEANUP(text_free) struct text cut = { 0 };
	size_t count = 0;
	uint32_t number;

	for (size_t row = 0; seen && row < table_rows(sheet->table) && row < COMPARED_NAMES;
	     row++) {
		text_clear(&cut);
		text_append_cut_at(&cut, cell_at(sheet, row, column), width, head);
		dictionary_add(seen, text_string(&cut), cut.length, &number);
	}
	count = seen ? dictionary_count(seen) : 0;
	dictionary_free(seen);
	return count;
}

/* Both ends of a name say more than its middle, unless only the middle tells it from others. */
static size_t find_head(const struct sheet *sheet, size_t column)
{
	size_t width = sheet->widths[column], middle = width / 2, best = middle;
	size_t names = count_different(sheet, column, sheet->whole[column], 0);
	size_t most = count_different(sheet, column, width, middle);

	for (size_t far = 1; far < middle && most < names; far++)
		for (int side = 0; side < 2; side++) {
			size_t head = side ? middle - far : middle + far;
			size_t different = count_different(sheet, column, width, head);

			if (different <= most)
				continue;
			most = different;
			best = head;
		}
	return best;
}

static void append_part(struct sheet *sheet, const struct stretch *part)
{
	for (size_t i = 0; i < part->to; i++)
		if (sheet->widths[i])
			sheet->heads[i] =
				sheet->widths[i] < sheet->whole[i] ? find_head(sheet, i) : 0;
	text_append_string(&sheet->out, style_on(sheet->colour, STYLE_TITLES));
	append_line(sheet, part, NULL);
	text_append_string(&sheet->out, style_off(sheet->colour, STYLE_TITLES));
	text_append_string(&sheet->out, "\n");
	for (size_t row = 0; row < table_rows(sheet->table); row++) {
		append_line(sheet, part, &row);
		text_append_string(&sheet->out, "\n");
	}
}

/* As many columns as fit after the first one; at least one, cut if necessary. */
static size_t fitting(struct sheet *sheet, size_t from, size_t available)
{
	size_t first = sheet->widths[0] + GAP, total = first, to = from;

	for (; to < sheet->table->columns.count; to++) {
		size_t width = sheet->widths[to] ? sheet->widths[to] + GAP : 0;

		if (total > first && total + width > available + GAP)
			break;
		total += width;
		if (total > available + GAP && available > first)
			sheet->widths[to] = available - first;
	}
	return to;
}

/* Names that were cut have the room that the others of their part leave. */
static void widen_names(struct sheet *sheet, const struct stretch *part, size_t available)
{
	size_t total = sheet->widths[0];

	for (size_t i = part->from; i < part->to; i++)
		total += sheet->widths[i] ? sheet->widths[i] + GAP : 0;
	for (size_t i = part->from; i < part->to && total < available; i++) {
		size_t lacking = sheet->widths[i] ? sheet->whole[i] - sheet->widths[i] : 0;
		size_t more = lacking < available - total ? lacking : available - total;

		sheet->widths[i] += more;
		total += more;
	}
}

static void append_folded(struct sheet *sheet, size_t available, bool is_terminal)
{
	size_t narrow = available / 3 > NARROWEST_NAME ? available / 3 : NARROWEST_NAME;
	struct stretch part = { 1, 1 };

	if (is_terminal && sheet->widths[0] > narrow)
		sheet->widths[0] = narrow;
	if (is_terminal && sheet->widths[0] > available)
		sheet->widths[0] = available;
	while (part.to < sheet->table->columns.count) {
		text_append_string(&sheet->out, part.to > 1 ? "\n" : "");
		part = (struct stretch){ part.to, fitting(sheet, part.to, available) };
		widen_names(sheet, &part, available);
		append_part(sheet, &part);
	}
}

/* Appends which columns did not fit. */
static void append_left_out(struct sheet *sheet)
{
	const struct table *table = sheet->table;
	CLEANUP(text_free) struct text names = { 0 };
	size_t count = 0;

	for (size_t i = 0; i < table->columns.count; i++) {
		if (!sheet->whole[i] || sheet->widths[i])
			continue;
		text_format(&names, "%s%s", count++ ? ", " : "", table->columns.data[i].title);
	}
	if (count)
		text_format(&sheet->out, "%zu column%s more: %s (a wider terminal%s%s)\n", count,
			    count == 1 ? "" : "s", text_string(&names),
			    table->choice ? ", or " : "", table->choice ? table->choice : "");
}

static void append_table(struct sheet *sheet, size_t width)
{
	struct stretch all = { 0, sheet->table->columns.count };
	size_t available = width ? width : TABLE_WIDTH;

	if (width) {
		leave_out(sheet, width);
		narrow_names(sheet, width);
	}
	if ((width || sheet->table->folds) && total_width(sheet) > available && all.to > 1)
		append_folded(sheet, available, width > 0);
	else
		append_part(sheet, &all);
	append_left_out(sheet);
}

int table_print(const struct table *table, const struct terminal *terminal, FILE *out)
{
	CLEANUP(sheet_free)
	struct sheet sheet = {
		.table = table,
		.colour = terminal->colour,
		.widths = calloc(table->columns.count + 1, sizeof(size_t)),
		.whole = calloc(table->columns.count + 1, sizeof(size_t)),
		.heads = calloc(table->columns.count + 1, sizeof(size_t)),
	};

	if (!sheet.widths || !sheet.whole || !sheet.heads || table->failed ||
	    make_cells(&sheet) < 0)
		return -ENOMEM;
	measure(&sheet);
	append_table(&sheet, terminal->width);
	if (sheet.out.failed)
		return -ENOMEM;
	fwrite(text_string(&sheet.out), 1, sheet.out.length, out);
	return 0;
}
