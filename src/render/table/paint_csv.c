/* SPDX-License-Identifier: MIT */
/* Paints lines as in RFC 4180: stored units, bare numbers, nothing for what is absent. */
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/real.h"
#include "render/table/table.h"

static bool is_plain_number(const char *string)
{
	size_t sign = strspn(string, "+-") ? 1 : 0;

	return string[sign] >= '0' && string[sign] <= '9' &&
	       string[sign + strspn(string + sign, "0123456789.")] == '\0';
}

/* Whether a spreadsheet would evaluate the field; some accept the wide forms of the letters too. */
static bool is_formula(const char *string)
{
	static const char *const beginnings[] = { "=",	    "+",      "-",	"@",
						  "\uff1d", "\uff0b", "\uff0d", "\uff20" };

	string += strspn(string, " \t\r\n");
	if (!strchr("=+-@\xef", *string)) /* the first byte of each */
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(string, beginnings[i], strlen(beginnings[i])) == 0)
			return !is_plain_number(string);
	return false;
}

/*
 * Appends a text: escaped as in every output, quoted when RFC 4180 wants it.  A
 * field that a spreadsheet would evaluate gets an apostrophe in front, which
 * makes it a text.
 */
static void append_text(struct text *out, const char *string)
{
	CLEANUP(text_free) struct text escaped = { 0 };
	bool has_formula = is_formula(string);
	const char *at;

	if (!has_formula && string[strcspn(string, ",\"\r\n")] == '\0') {
		text_append_escaped(out, string, strlen(string));
		return;
	}
	text_append_escaped(&escaped, string, strlen(string));
	text_append_string(out, has_formula ? "\"'" : "\"");
	for (at = text_string(&escaped); *at; at++)
		text_append_string(out, *at == '"' ? "\"\"" : (char[]){ *at, '\0' });
	text_append_string(out, "\"");
	out->failed |= escaped.failed;
}

static void append_list(struct text *out, const char *items)
{
	CLEANUP(text_free) struct text list = { 0 };
	size_t length;

	for (const char *item; (item = table_next_item(&items, &length));) {
		text_append_string(&list, list.length ? " " : "");
		text_append(&list, item, length);
	}
	append_text(out, text_string(&list));
}

/* Not text_format(), which takes several times as long: tables have millions of numbers. */
static void append_u64(struct text *out, uint64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);

	do
		digits[--first] = (char)('0' + number % 10);
	while (number /= 10);
	text_append(out, digits + first, sizeof(digits) - first);
}

static void append_real(struct text *out, double real)
{
	char buffer[REAL_SIZE];

	text_append(out, buffer, real_write(real, buffer));
}

static void append_value(struct text *out, const struct table *table, const struct cell *cell)
{
	char buffer[32];

	switch ((enum cell_kind)cell->kind) {
	case TABLE_CELL_EMPTY:
	case TABLE_CELL_ABSENT:
		break;
	case TABLE_CELL_NUMBER:
		append_u64(out, cell->number);
		break;
	case TABLE_CELL_SIGNED:
		text_format(out, "%" PRId64, cell->low);
		break;
	case TABLE_CELL_REAL:
	case TABLE_CELL_SHARE:
	case TABLE_CELL_CHANGE:
	case TABLE_CELL_PERCENT:
		append_real(out, cell->real);
		break;
	case TABLE_CELL_DELTA:
		text_append(out, "-", cell->high < 0);
		append_u64(out, cell->number);
		break;
	case TABLE_CELL_FLAG:
		text_append_string(out, cell->number ? "true" : "false");
		break;
	case TABLE_CELL_UNLIMITED:
		text_append_string(out, UNLIMITED);
		break;
	case TABLE_CELL_RANGE:
		table_append_range(out, cell);
		break;
	case TABLE_CELL_LIMITS:
		text_format(out, "%" PRId64 ".." UNLIMITED, cell->low);
		break;
	case TABLE_CELL_CATEGORY:
		append_text(out, metric_category_text(cell->unit, cell->number, buffer));
		break;
	case TABLE_CELL_CPUS:
		if (!table_text(table, cell)[0]) {
			text_format(out, "%" PRId64 "..%" PRId64 " cpus", cell->low, cell->high);
			break;
		}
		/* fall through */
	case TABLE_CELL_TEXT:
		append_text(out, table_text(table, cell));
		break;
	case TABLE_CELL_LIST:
		append_list(out, table_text(table, cell));
		break;
	}
}

static void print_line(struct table *table)
{
	text_append_string(&table->line, "\n");
	if (table->line.failed)
		table->failed = true;
	else
		fwrite(table->line.data, 1, table->line.length, table->out);
	text_clear(&table->line);
}

static void write_row(struct table *table)
{
	bool is_first = true;

	for (size_t i = 0; i < table->columns.count; i++) {
		if (!table->columns.data[i].id)
			continue;
		text_append_string(&table->line, is_first ? "" : ",");
		append_value(&table->line, table, table_at(table, 0, i));
		is_first = false;
	}
	print_line(table);
}

void table_stream_csv(struct table *table, FILE *out)
{
	for (size_t i = 0; i < table->columns.count; i++) {
		if (!table->columns.data[i].id)
			continue;
		text_append_string(&table->line, table->line.length ? "," : "");
		append_text(&table->line, table->columns.data[i].id);
	}
	table->stream = write_row;
	table->out = out;
	print_line(table);
}
