/* SPDX-License-Identifier: MIT */
#include "render/table/table.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "metric/fold.h"

/* Streamed rows cannot be taken back: the program says at its end that some are missing. */
static void fail(struct table *table)
{
	table->failed = true;
	memory_note_missing();
}

void table_add_column(struct table *table, struct table_column column)
{
	column.is_nested = column.inside || (column.id && strchr(column.id, ' '));
	if (array_append(&table->columns, column) < 0)
		fail(table);
}

void table_add_title(struct table *table, const char *title, enum table_alignment alignment)
{
	table_add_column(table, (struct table_column){ .title = title, .alignment = alignment });
}

void table_add_columns(struct table *table, const struct table_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add_column(table, columns[i]);
}

void table_clear(struct table *table)
{
	array_free(&table->columns);
	array_free(&table->cells);
	array_free(&table->scales);
	text_free(&table->text);
	text_free(&table->line);
	*table = (struct table){ 0 };
}

size_t table_rows(const struct table *table)
{
	return table->columns.count ? table->cells.count / table->columns.count : 0;
}

void table_mark(struct table *table, enum style mark)
{
	table->mark = mark;
}

void table_sign(struct table *table, char sign)
{
	text_append(&table->text, &sign, sign != 0);
}

uint32_t table_scale(struct table *table, struct cell_scale scale)
{
	if (array_append(&table->scales, scale) < 0)
		fail(table);
	return (uint32_t)table->scales.count;
}

static enum metric_unit column_unit(const struct table *table)
{
	size_t count = table->columns.count;

	return count ? table->columns.data[table->cells.count % count].unit : UNIT_COUNT;
}

/* Its text is what was appended since the last one. */
void put_cell(struct table *table, struct cell cell)
{
	bool has_text = table->text.length > table->text_start;

	cell.mark = table->mark;
	cell.text = has_text ? table->text_start : TABLE_NO_TEXT;
	if (has_text)
		text_append(&table->text, "", 1);
	if (table->failed)
		return;
	if (table->text.failed || array_append(&table->cells, cell) < 0) {
		fail(table);
		return;
	}
	table->text_start = table->text.length;
	table->mark = STYLE_PLAIN;
	if (table->stream && table->cells.count == table->columns.count) {
		table->stream(table);
		table->cells.count = 0;
		table->scales.count = 0;
		text_clear(&table->text);
		table->text_start = 0;
	}
}

/* A cell in the unit of its column, without its value. */
static struct cell new_cell(const struct table *table, enum cell_kind kind)
{
	return (struct cell){ .kind = kind, .unit = column_unit(table) };
}

static void put_kind(struct table *table, enum cell_kind kind)
{
	put_cell(table, new_cell(table, kind));
}

void put_empty(struct table *table)
{
	put_kind(table, TABLE_CELL_EMPTY);
}

void put_word(struct table *table, const char *word)
{
	text_append_string(&table->text, word);
	put_empty(table);
}

void put_absent(struct table *table, const char *reason)
{
	text_append_string(&table->text, reason ? reason : "");
	put_kind(table, TABLE_CELL_ABSENT);
}

void put_number(struct table *table, uint64_t number)
{
	put_amount(table, column_unit(table), number);
}

void put_known(struct table *table, bool is_known, uint64_t number)
{
	if (is_known)
		put_number(table, number);
	else
		put_absent(table, NULL);
}

void put_amount(struct table *table, enum metric_unit unit, uint64_t number)
{
	put_cell(table, (struct cell){ .kind = TABLE_CELL_NUMBER, .unit = unit, .number = number });
}

void put_signed(struct table *table, int64_t number)
{
	struct cell cell = new_cell(table, TABLE_CELL_SIGNED);

	cell.low = number;
	put_cell(table, cell);
}

void put_real(struct table *table, double real)
{
	struct cell cell = new_cell(table, TABLE_CELL_REAL);

	cell.real = real;
	put_cell(table, cell);
}

void put_share(struct table *table, double part, double whole)
{
	struct cell cell = new_cell(table, whole > 0 ? TABLE_CELL_SHARE : TABLE_CELL_ABSENT);

	if (whole > 0)
		cell.real = part / whole;
	put_cell(table, cell);
}

void put_text(struct table *table, const char *text)
{
	text_append_string(&table->text, text);
	put_end(table);
}

void put_string(struct table *table, const char *string)
{
	if (string && string[0])
		put_text(table, string);
	else
		put_absent(table, NULL);
}

void put_flag(struct table *table, bool flag)
{
	struct cell cell = new_cell(table, TABLE_CELL_FLAG);

	cell.number = flag;
	put_cell(table, cell);
}

struct text *put_begin(struct table *table)
{
	return &table->text;
}

void put_end(struct table *table)
{
	put_kind(table, TABLE_CELL_TEXT);
}

void put_end_list(struct table *table)
{
	put_kind(table, TABLE_CELL_LIST);
}

static enum cell_kind kind_of(const struct fold *fold)
{
	static const enum cell_kind kinds[] = {
		[SHAPE_ABSENT] = TABLE_CELL_ABSENT, [SHAPE_NUMBER] = TABLE_CELL_NUMBER,
		[SHAPE_REAL] = TABLE_CELL_REAL,	    [SHAPE_RANGE] = TABLE_CELL_RANGE,
		[SHAPE_MODE] = TABLE_CELL_CATEGORY, [SHAPE_CPUS] = TABLE_CELL_CPUS,
		[SHAPE_TEXT] = TABLE_CELL_TEXT,	    [SHAPE_UNLIMITED] = TABLE_CELL_UNLIMITED,
		[SHAPE_LIMITS] = TABLE_CELL_LIMITS,
	};

	if (fold->shape == SHAPE_NUMBER && fold->metric->unit == UNIT_LEVEL)
		return TABLE_CELL_SIGNED;
	if (fold->shape == SHAPE_REAL && fold->has_number)
		return fold->real < 0 ? TABLE_CELL_SIGNED : TABLE_CELL_NUMBER;
	return kinds[fold->shape];
}

void put_fold(struct table *table, const struct fold *fold)
{
	struct cell cell = new_cell(table, kind_of(fold));

	cell.unit = fold->metric->unit;
	cell.measured = fold->measured;
	cell.population = fold->population;
	switch ((enum cell_kind)cell.kind) {
	case TABLE_CELL_NUMBER:
	case TABLE_CELL_SIGNED:
		cell.number = fold->number;
		break;
	case TABLE_CELL_REAL:
		cell.real = fold->real;
		break;
	case TABLE_CELL_CATEGORY:
		cell.number = fold->mode;
		cell.count = fold->mode_count;
		break;
	case TABLE_CELL_TEXT:
		cell.count = fold->mode_count;
		break;
	default:
		cell.low = fold->min;
		cell.high = fold->max;
		break;
	}
	if ((fold->shape == SHAPE_TEXT || fold->shape == SHAPE_CPUS) && fold->text)
		text_append_string(&table->text, fold->text);
	put_cell(table, cell);
}

void table_append_range(struct text *out, const struct cell *cell)
{
	text_format(out, "%" PRId64, cell->low);
	if (cell->high != cell->low)
		text_format(out, "..%" PRId64, cell->high);
}

const char *table_next_item(const char **items, size_t *ret_length)
{
	const char *item = *items;

	if (!*item)
		return NULL;
	*ret_length = strcspn(item, "\n");
	*items = item + *ret_length + (item[*ret_length] == '\n');
	return item;
}
