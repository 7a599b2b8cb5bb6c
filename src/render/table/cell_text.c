/* SPDX-License-Identifier: MIT */
/* How people read the value of a cell. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "metric/unit.h"
#include "render/table/table.h"

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
	size_t length;

	for (const char *item, *before = ""; (item = table_next_item(&items, &length));
	     before = ", ") {
		text_append_string(out, before);
		text_append_escaped(out, item, length);
	}
}

/* Whether the cell's text is read before the value, or instead of one. */
static bool has_text_first(enum cell_kind kind)
{
	return kind != TABLE_CELL_ABSENT && kind != TABLE_CELL_LIST && kind != TABLE_CELL_CPUS;
}

void cell_text(struct text *out, const struct table *table, const struct cell *cell)
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
	if (cell->is_rate && cell->kind > TABLE_CELL_ABSENT)
		text_append_string(out, "/s");
	if (cell->measured < cell->population && cell->kind > TABLE_CELL_ABSENT)
		text_append_string(out, "*");
}
