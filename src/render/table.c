/* SPDX-License-Identifier: MIT */
#include "render/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define GAP 2
#define NARROWEST_NAME 12

static const char header_on[] = "\033[1;36m";
static const char colour_off[] = "\033[0m";
static const char *const mark_on[] = {
	[TABLE_PLAIN] = "",
	[TABLE_MORE] = "\033[33m",
	[TABLE_LESS] = "\033[35m",
};

void table_add_column(struct table *table, const char *header, enum table_alignment alignment)
{
	struct table_column column = { header, alignment };

	if (array_append(&table->columns, column) < 0)
		table->failed = true;
}

void table_add_columns(struct table *table, const struct table_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add_column(table, columns[i].header, columns[i].alignment);
}

struct text *table_cell(struct table *table)
{
	if (table->cells.count == 0 && array_append(&table->cells, 0) < 0)
		table->failed = true;
	return &table->text;
}

void table_end_cell(struct table *table)
{
	text_append(&table->text, "", 1);
	if (table->text.failed || array_append(&table->cells, table->text.length) < 0 ||
	    array_append(&table->marks, (uint8_t)table->mark) < 0)
		table->failed = true;
	table->mark = TABLE_PLAIN;
}

void table_mark(struct table *table, enum table_mark mark)
{
	table->mark = mark;
}

void table_clear(struct table *table)
{
	array_free(&table->columns);
	array_free(&table->cells);
	array_free(&table->marks);
	text_free(&table->text);
	table->failed = false;
}

static size_t row_count(const struct table *table)
{
	if (table->cells.count == 0 || table->columns.count == 0)
		return 0;
	return (table->cells.count - 1) / table->columns.count;
}

static const char *cell_at(const struct table *table, size_t row, size_t column)
{
	return table->text.data + table->cells.data[row * table->columns.count + column];
}

static void measure(const struct table *table, size_t *widths)
{
	for (size_t column = 0; column < table->columns.count; column++) {
		widths[column] = text_width(table->columns.data[column].header);
		for (size_t row = 0; row < row_count(table); row++) {
			size_t width = text_width(cell_at(table, row, column));

			if (width > widths[column])
				widths[column] = width;
		}
	}
}

/* Takes from the names what the rows are too wide, as far as a name stays readable. */
static void fit(const struct table *table, size_t available, size_t *widths)
{
	size_t total = 0;

	for (size_t column = 0; column < table->columns.count; column++)
		total += widths[column] + (column ? GAP : 0);
	for (size_t column = 0; column < table->columns.count && total > available; column++) {
		size_t excess = total - available;
		size_t spare =
			widths[column] > NARROWEST_NAME ? widths[column] - NARROWEST_NAME : 0;
		size_t cut = excess < spare ? excess : spare;

		if (table->columns.data[column].alignment != TABLE_NAME)
			continue;
		widths[column] -= cut;
		total -= cut;
	}
}

/* The byte where the character number `index` starts. */
static size_t offset_of(const char *string, size_t index)
{
	size_t at = 0;

	while (string[at] && (((unsigned char)string[at] & 0xc0) == 0x80 || index-- > 0))
		at++;
	return at;
}

/* A path tells most at its end, another name at its start. */
static void append_cut(struct text *line, const char *string, size_t width)
{
	size_t full = text_width(string);

	if (full <= width) {
		text_append_string(line, string);
	} else if (string[0] == '/') {
		text_append_string(line, "…");
		text_append_string(line, string + offset_of(string, full - width + 1));
	} else {
		text_append(line, string, offset_of(string, width - 1));
		text_append_string(line, "…");
	}
}

static void append_blanks(struct text *line, size_t count)
{
	while (count--)
		text_append(line, " ", 1);
}

static void append_cell(struct text *line, const char *string, size_t width,
			enum table_alignment alignment, enum table_mark mark)
{
	size_t own = text_width(string);
	size_t blanks = own < width ? width - own : 0;

	if (alignment == TABLE_RIGHT)
		append_blanks(line, blanks);
	text_append_string(line, mark_on[mark]);
	append_cut(line, string, width);
	text_append_string(line, mark == TABLE_PLAIN ? "" : colour_off);
	if (alignment != TABLE_RIGHT)
		append_blanks(line, blanks);
}

static void end_line(struct text *line)
{
	while (line->length && line->data[line->length - 1] == ' ')
		line->length--;
	if (line->data)
		line->data[line->length] = '\0';
}

/* A stretch of columns, with the first column of the table before it. */
struct stretch {
	size_t from, to;
};

static void append_gap(struct text *out, size_t column)
{
	append_blanks(out, column ? GAP : 0);
}

static void append_header(struct text *out, const struct table *table, const struct stretch *part,
			  const size_t *widths)
{
	for (size_t i = 0; i < part->to; i++) {
		const struct table_column *column = &table->columns.data[i];

		if (i > 0 && i < part->from)
			continue;
		append_gap(out, i);
		append_cell(out, column->header, widths[i], column->alignment, TABLE_PLAIN);
	}
	end_line(out);
}

static void append_row(struct text *out, const struct table *table, const struct stretch *part,
		       const size_t *widths, bool colour, size_t row)
{
	for (size_t i = 0; i < part->to; i++) {
		uint8_t mark = table->marks.data[row * table->columns.count + i];

		if (i > 0 && i < part->from)
			continue;
		append_gap(out, i);
		append_cell(out, cell_at(table, row, i), widths[i],
			    table->columns.data[i].alignment, colour ? mark : TABLE_PLAIN);
	}
	end_line(out);
}

static void append_part(struct text *out, const struct table *table, const struct stretch *part,
			const size_t *widths, bool colour)
{
	text_append_string(out, colour ? header_on : "");
	append_header(out, table, part, widths);
	text_append_string(out, colour ? colour_off : "");
	text_append_string(out, "\n");
	for (size_t row = 0; row < row_count(table); row++) {
		append_row(out, table, part, widths, colour, row);
		text_append_string(out, "\n");
	}
}

int table_print(const struct table *table, const struct terminal *terminal, FILE *out)
{
	CLEANUP(free_pointer)
	size_t *widths = calloc(table->columns.count + 1, sizeof(*widths));
	CLEANUP(text_free) struct text lines = { 0 };
	struct stretch all = { 0, table->columns.count };

	if (!widths || table->failed)
		return -ENOMEM;
	measure(table, widths);
	if (terminal->width)
		fit(table, terminal->width, widths);
	append_part(&lines, table, &all, widths, terminal->colour);
	if (lines.failed)
		return -ENOMEM;
	fwrite(lines.data, 1, lines.length, out);
	return 0;
}

/* As many columns as fit behind the first one; at least one. */
static size_t fitting(const struct table *table, const size_t *widths, size_t from,
		      size_t available)
{
	size_t total = widths[0];
	size_t to = from;

	while (to < table->columns.count && (to == from || total + GAP + widths[to] <= available)) {
		total += GAP + widths[to];
		to++;
	}
	return to;
}

int table_print_folded(const struct table *table, const struct terminal *terminal, FILE *out)
{
	size_t available = terminal->width ? terminal->width : TABLE_WIDTH;
	size_t narrow = available / 3;
	CLEANUP(free_pointer)
	size_t *widths = calloc(table->columns.count + 1, sizeof(*widths));
	CLEANUP(text_free) struct text lines = { 0 };
	struct stretch part = { 1, 1 };

	if (!widths || table->failed)
		return -ENOMEM;
	measure(table, widths);
	if (terminal->width && widths[0] > narrow && narrow > NARROWEST_NAME)
		widths[0] = narrow;
	while (part.to < table->columns.count) {
		text_append_string(&lines, part.to > 1 ? "\n" : "");
		part = (struct stretch){ part.to, fitting(table, widths, part.to, available) };
		append_part(&lines, table, &part, widths, terminal->colour);
	}
	if (lines.failed)
		return -ENOMEM;
	fwrite(lines.data, 1, lines.length, out);
	return 0;
}
