/* SPDX-License-Identifier: MIT */
/*
 * Paints text in aligned columns that fit the terminal.  First, columns that
 * may be left out go, by priority; then names are cut in the middle.  Columns
 * that still do not fit continue below, after the first column again.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "render/table/table.h"

#define GAP 2
#define NARROWEST_NAME 12

static const char header_on[] = "\033[1;36m";
static const char colour_off[] = "\033[0m";
static const char *const mark_on[] = {
	[TABLE_PLAIN] = "",
	[TABLE_MORE] = "\033[33m",
	[TABLE_LESS] = "\033[35m",
};

static bool is_share(enum metric_unit unit)
{
	return unit == UNIT_RATIO || unit == UNIT_CENTIPERCENT;
}

/* Appends the ends of a range as scaled numbers. */
static void append_ends(struct text *out, enum metric_unit unit, const struct unit_scale *scale,
			double low, double high)
{
	unit_format_number(out, unit, scale, low);
	if (high == low)
		return;
	text_append_string(out, "..");
	unit_format_number(out, unit, scale, high);
}

/* Appends a number, or a range, in the unit that it shares with others. */
static void append_scaled(struct text *out, const struct cell *cell,
			  const struct cell_scale *shared)
{
	struct unit_scale scale = unit_scale_for(cell->unit, shared->largest);
	bool is_exact = scale.size == 1 && !is_share(cell->unit);

	if (cell->kind == TABLE_CELL_RANGE)
		append_ends(out, cell->unit, &scale, (double)cell->low, (double)cell->high);
	else if (cell->kind == TABLE_CELL_REAL)
		unit_format_number(out, cell->unit, &scale, cell->real);
	else if (cell->kind == TABLE_CELL_SIGNED && is_exact)
		text_format(out, "%" PRId64, cell->low);
	else if (cell->kind == TABLE_CELL_SIGNED)
		unit_format_number(out, cell->unit, &scale, (double)cell->low);
	else if (is_exact)
		text_format(out, "%" PRIu64, cell->number);
	else
		unit_format_number(out, cell->unit, &scale, (double)cell->number);
	if (shared->low != shared->high) {
		text_append_string(out, " (");
		append_ends(out, cell->unit, &scale, shared->low, shared->high);
		text_append_string(out, ")");
	}
	text_append_string(out, scale.suffix);
}

static void append_number(struct text *out, const struct table *table, const struct cell *cell)
{
	if (cell->scale)
		append_scaled(out, cell, &table->scales.data[cell->scale - 1]);
	else if (cell->kind == TABLE_CELL_REAL)
		unit_format_real(out, cell->unit, cell->real);
	else if (cell->kind == TABLE_CELL_SIGNED)
		unit_format_real(out, cell->unit, (double)cell->low);
	else if (cell->kind == TABLE_CELL_RANGE)
		table_append_range(out, cell);
	else if (cell->unit == UNIT_BOOL)
		text_append_string(out, cell->number ? "yes" : "no");
	else
		unit_format(out, cell->unit, cell->number);
}

/* Appends a change with its sign, in the unit that suits it. */
static void append_change(struct text *out, const struct cell *cell)
{
	bool is_whole = cell->kind == TABLE_CELL_DELTA;
	double size = is_whole ? (double)cell->number : fabs(cell->real);
	struct unit_scale scale = unit_scale_for(cell->unit, size);
	double change = is_whole && cell->high >= 0 ? size : is_whole ? -size : cell->real;

	text_append_string(out, change > 0 ? "+" : "");
	if (is_whole && scale.size == 1 && !is_share(cell->unit))
		text_format(out, "%s%" PRIu64, change < 0 ? "-" : "", cell->number);
	else if (cell->unit == UNIT_RATIO && size < 0.0005)
		text_format(out, "%.2g", change);
	else
		unit_format_number(out, cell->unit, &scale, change);
	text_append_string(out, scale.suffix);
}

/* Appends how many of the measured ones have it, unless all do. */
static void append_count(struct text *out, const struct cell *cell)
{
	if (cell->count != cell->measured)
		text_format(out, " (%" PRIu32 "/%" PRIu32 ")", cell->count, cell->measured);
}

static void append_cpus(struct text *out, const struct cell *cell, const char *list)
{
	text_format(out, "%" PRId64, cell->low);
	if (cell->high != cell->low)
		text_format(out, "-%" PRId64, cell->high);
	text_append_string(out, cell->high == 1 ? " cpu (" : " cpus (");
	text_append_escaped(out, list[0] ? list : "mixed", list[0] ? strlen(list) : 5);
	text_append_string(out, ")");
}

static void append_list(struct text *out, const char *items)
{
	for (const char *before = ""; *items; before = ", ") {
		size_t length = strcspn(items, "\n");

		text_append_string(out, before);
		text_append_escaped(out, items, length);
		items += length + (items[length] == '\n');
	}
}

/* Whether the cell's text is read before the value, or instead of one. */
static bool has_text_first(enum cell_kind kind)
{
	return kind != TABLE_CELL_ABSENT && kind != TABLE_CELL_LIST && kind != TABLE_CELL_CPUS;
}

static void append_value(struct text *out, const struct table *table, const struct cell *cell)
{
	const char *text = table_text(table, cell);
	char buffer[32];

	if (text[0] && has_text_first((enum cell_kind)cell->kind))
		text_append_escaped(out, text, strlen(text));
	switch ((enum cell_kind)cell->kind) {
	case TABLE_CELL_EMPTY:
		break;
	case TABLE_CELL_ABSENT:
		text_append_string(out, "-");
		break;
	case TABLE_CELL_NUMBER:
	case TABLE_CELL_SIGNED:
	case TABLE_CELL_REAL:
	case TABLE_CELL_RANGE:
		append_number(out, table, cell);
		break;
	case TABLE_CELL_SHARE:
		unit_format_share(out, cell->real);
		break;
	case TABLE_CELL_CHANGE:
	case TABLE_CELL_DELTA:
		append_change(out, cell);
		break;
	case TABLE_CELL_PERCENT:
		text_append_string(out, cell->real < 0 ? "" : "+");
		unit_format_share(out, cell->real / 100);
		break;
	case TABLE_CELL_CATEGORY:
		text_append_string(out, metric_category_text(cell->unit, cell->number, buffer));
		/* fall through */
	case TABLE_CELL_TEXT:
		append_count(out, cell);
		break;
	case TABLE_CELL_LIST:
		append_list(out, text);
		break;
	case TABLE_CELL_FLAG:
		text_append_string(out, cell->number ? "yes" : "no");
		break;
	case TABLE_CELL_UNLIMITED:
		text_append_string(out, UNLIMITED);
		break;
	case TABLE_CELL_LIMITS:
		unit_format(out, cell->unit, (uint64_t)cell->low);
		text_append_string(out, ".." UNLIMITED);
		break;
	case TABLE_CELL_CPUS:
		append_cpus(out, cell, text);
		break;
	}
}

/* A table while it is printed. */
struct sheet {
	const struct table *table;
	struct text text;	/* of all cells as people see them */
	ARRAY_OF(size_t) cells; /* where each starts in it */
	size_t *widths;		/* of the columns; 0: not shown */
	size_t *whole;		/* the widths that they need */
	struct text out;
	bool colour;
};

static void sheet_free(struct sheet *sheet)
{
	text_free(&sheet->text);
	array_free(&sheet->cells);
	free(sheet->widths);
	free(sheet->whole);
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
		append_value(&sheet->text, table, cell);
		if (cell->measured < cell->population && cell->kind > TABLE_CELL_ABSENT)
			text_append_string(&sheet->text, "*");
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

/* Appends at most `width` columns from the start of the string; returns the columns taken. */
static size_t append_start(struct text *line, const char *string, size_t width)
{
	size_t taken = 0, at = 0;

	while (string[at]) {
		size_t bytes = text_character(string + at, strnlen(string + at, 4));
		size_t columns = text_columns(string + at);

		if (taken + columns > width)
			break;
		taken += columns;
		at += bytes ? bytes : 1;
	}
	text_append(line, string, at);
	return taken;
}

/* The rest of the string that takes at most so many columns. */
static const char *find_end(const char *string, size_t width)
{
	for (size_t left = text_width(string); left > width;) {
		size_t bytes = text_character(string, strnlen(string, 4));

		left -= text_columns(string);
		string += bytes ? bytes : 1;
	}
	return string;
}

/* Both ends of a name say more than its middle.  Returns the columns taken. */
static size_t append_cut(struct text *line, const char *string, size_t width)
{
	size_t full = text_width(string), taken;
	const char *end;

	if (full <= width || width == 0) {
		text_append_string(line, width ? string : "");
		return width ? full : 0;
	}
	taken = append_start(line, string, width / 2) + 1;
	text_append_string(line, "…");
	end = find_end(string, width - taken);
	text_append_string(line, end);
	return taken + text_width(end);
}

static void append_blanks(struct text *line, size_t count)
{
	while (count--)
		text_append(line, " ", 1);
}

static void append_cell(struct text *line, const char *string, size_t width,
			enum table_alignment alignment, enum table_mark mark)
{
	size_t full = text_width(string), taken;

	if (alignment == TABLE_RIGHT && full < width)
		append_blanks(line, width - full);
	text_append_string(line, mark_on[mark]);
	taken = append_cut(line, string, width);
	text_append_string(line, mark == TABLE_PLAIN ? "" : colour_off);
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
		uint8_t mark = row && sheet->colour ? table_at(table, *row, i)->mark : TABLE_PLAIN;

		if (!sheet->widths[i] || (i > 0 && i < part->from))
			continue;
		append_blanks(out, i > 0 ? GAP : 0);
		append_cell(out, row ? cell_at(sheet, *row, i) : column->title, sheet->widths[i],
			    column->alignment, mark);
	}
	while (out->length > start && out->data[out->length - 1] == ' ')
		out->length--;
}

static void append_part(struct sheet *sheet, const struct stretch *part)
{
	text_append_string(&sheet->out, sheet->colour ? header_on : "");
	append_line(sheet, part, NULL);
	text_append_string(&sheet->out, sheet->colour ? colour_off : "");
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
	};

	if (!sheet.widths || !sheet.whole || table->failed || make_cells(&sheet) < 0)
		return -ENOMEM;
	measure(&sheet);
	append_table(&sheet, terminal->width);
	if (sheet.out.failed)
		return -ENOMEM;
	fwrite(text_string(&sheet.out), 1, sheet.out.length, out);
	return 0;
}
