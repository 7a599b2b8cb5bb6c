/* SPDX-License-Identifier: MIT */
/* Paints lines as in RFC 4180: stored units, bare numbers, nothing for what is absent. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
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
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(string, beginnings[i], strlen(beginnings[i])) == 0)
			return !is_plain_number(string);
	return false;
}

/* A field that a spreadsheet would evaluate gets an apostrophe in front, which makes it a text. */
void csv_append(struct text *out, const char *string)
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

static void append_range(struct text *out, const struct cell *cell)
{
	text_format(out, "%" PRId64, cell->low);
	if (cell->high != cell->low)
		text_format(out, "..%" PRId64, cell->high);
}

static void append_list(struct text *out, const char *items)
{
	CLEANUP(text_free) struct text list = { 0 };

	while (*items) {
		size_t length = strcspn(items, "\n");

		text_append_string(&list, list.length ? " " : "");
		text_append(&list, items, length);
		items += length + (items[length] == '\n');
	}
	csv_append(out, text_string(&list));
}

static void append_value(struct text *out, const struct table *table, const struct cell *cell)
{
	char buffer[32];

	switch ((enum cell_kind)cell->kind) {
	case TABLE_CELL_EMPTY:
	case TABLE_CELL_ABSENT:
		break;
	case TABLE_CELL_NUMBER:
		text_format(out, "%" PRIu64, cell->number);
		break;
	case TABLE_CELL_SIGNED:
		text_format(out, "%" PRId64, cell->low);
		break;
	case TABLE_CELL_REAL:
	case TABLE_CELL_SHARE:
		text_format(out, "%.17g", cell->real);
		break;
	case TABLE_CELL_FLAG:
		text_append_string(out, cell->number ? "true" : "false");
		break;
	case TABLE_CELL_UNLIMITED:
		text_append_string(out, UNLIMITED);
		break;
	case TABLE_CELL_RANGE:
		append_range(out, cell);
		break;
	case TABLE_CELL_LIMITS:
		text_format(out, "%" PRId64 ".." UNLIMITED, cell->low);
		break;
	case TABLE_CELL_CATEGORY:
		csv_append(out, metric_category_text(cell->unit, cell->number, buffer));
		break;
	case TABLE_CELL_CPUS:
		if (!table_text(table, cell)[0]) {
			text_format(out, "%" PRId64 "..%" PRId64 " cpus", cell->low, cell->high);
			break;
		}
		/* fall through */
	case TABLE_CELL_TEXT:
		csv_append(out, table_text(table, cell));
		break;
	case TABLE_CELL_LIST:
		append_list(out, table_text(table, cell));
		break;
	}
}

static void print_line(struct table *table, struct text *line)
{
	text_append_string(line, "\n");
	if (line->failed)
		table->failed = true;
	else
		fwrite(line->data, 1, line->length, table->out);
}

static void write_row(struct table *table)
{
	CLEANUP(text_free) struct text line = { 0 };
	bool is_first = true;

	for (size_t i = 0; i < table->columns.count; i++) {
		if (!table->columns.data[i].id)
			continue;
		text_append_string(&line, is_first ? "" : ",");
		append_value(&line, table, table_at(table, 0, i));
		is_first = false;
	}
	print_line(table, &line);
}

void table_stream_csv(struct table *table, FILE *out)
{
	CLEANUP(text_free) struct text line = { 0 };

	for (size_t i = 0; i < table->columns.count; i++) {
		if (!table->columns.data[i].id)
			continue;
		text_append_string(&line, line.length ? "," : "");
		csv_append(&line, table->columns.data[i].id);
	}
	table->stream = write_row;
	table->out = out;
	print_line(table, &line);
}
