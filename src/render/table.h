/* SPDX-License-Identifier: MIT */
/*
 * Text in aligned columns.
 *
 *	struct table table = { 0 };
 *	table_add_column(&table, "group", TABLE_NAME);
 *	text_append_string(table_cell(&table), "nginx");
 *	table_end_cell(&table);
 *	table_print(&table, &terminal, stdout);
 *	table_clear(&table);
 *
 * Cells fill the columns from left to right, row by row.  Their text must be
 * printable: names from strangers go through text_append_escaped().  A table
 * that is all zeros is empty and valid.
 */
#ifndef RENDER_TABLE_H
#define RENDER_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/array.h"
#include "base/text.h"
#include "render/terminal.h"

enum table_alignment {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_NAME, /* left; cut short when the rows are wider than the terminal */
};

/* What a cell says beside its text, by colour where the terminal has it. */
enum table_mark {
	TABLE_PLAIN,
	TABLE_MORE,
	TABLE_LESS,
};

/* How wide a folded table may be where there is no terminal. */
#define TABLE_WIDTH 120

struct table_column {
	const char *header;
	enum table_alignment alignment;
};

struct table {
	ARRAY_OF(struct table_column) columns;
	ARRAY_OF(size_t) cells; /* where each starts in `text` */
	ARRAY_OF(uint8_t) marks;
	enum table_mark mark; /* of the cell that is being made */
	struct text text;
	bool failed; /* memory ran out somewhere */
};

void table_add_column(struct table *table, const char *header, enum table_alignment alignment);
void table_add_columns(struct table *table, const struct table_column *columns, size_t count);

/* What the next cell's text is appended to, until table_end_cell(). */
struct text *table_cell(struct table *table);
void table_end_cell(struct table *table);
/* Marks the next cell to end. */
void table_mark(struct table *table, enum table_mark mark);

/* The header and every complete row.  Returns 0, or -ENOMEM and prints nothing. */
int table_print(const struct table *table, const struct terminal *terminal, FILE *out);
/*
 * The same, but rows that are wider than the terminal (or than TABLE_WIDTH where
 * there is none) are folded: the first column is repeated before the next columns,
 * under a header of their own.
 */
int table_print_folded(const struct table *table, const struct terminal *terminal, FILE *out);
void table_clear(struct table *table);

#endif
