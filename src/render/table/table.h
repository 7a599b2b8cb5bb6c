/* SPDX-License-Identifier: MIT */
/*
 * Tables for all outputs.  A view fills a table, and a painter prints it: as
 * text that fits the terminal (paint_text.c), as JSON (paint_json.c) or as CSV
 * (paint_csv.c).
 *
 *	static const struct table_column columns[] = {
 *		{ "thread", TABLE_NAME, .id = "comm" },
 *		{ "on cpu", TABLE_RIGHT, 2, "run_time_ns", UNIT_NS },
 *	};
 *	CLEANUP(table_clear) struct table table = { 0 };
 *	table_add_columns(&table, columns, ARRAY_SIZE(columns));
 *	put_string(&table, thread->comm);
 *	put_number(&table, thread->run_time_ns);
 *	table_print(&table, &terminal, stdout);
 *
 * Cells fill the columns from left to right, row by row.  They hold values, not
 * their looks: painters scale, escape and quote.  A table that is all zeros is
 * empty and valid.
 */
#ifndef RENDER_TABLE_TABLE_H
#define RENDER_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/array.h"
#include "base/text.h"
#include "metric/metric.h"
#include "render/terminal.h"

struct fold;
struct json;

enum table_alignment {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_NAME, /* left; cut in the middle when the rows are wider than the terminal */
};

/* What a cell means besides its value; shown by colour where the terminal has it. */
enum table_mark {
	TABLE_PLAIN,
	TABLE_MORE,
	TABLE_LESS,
};

struct table_column {
	const char *title; /* for people; NULL: for programs only */
	enum table_alignment alignment;
	/*
	 * 0: always shown, if necessary below the others.  On a terminal that
	 * is too narrow, columns with the highest number are left out first;
	 * among equals the last one.
	 */
	unsigned priority;
	const char
		*id; /* key for programs: a metric's id, where it is one; NULL: for people only */
	enum metric_unit unit; /* of numbers, unless the cell says otherwise */
	const char *inside;    /* JSON: the member of the row that the key is in; NULL: the row */
	bool has_coverage;     /* JSON: the value is an object, with how many were measured */
	bool is_nullable;      /* JSON: null when it is absent; else it has no key then */
};

enum cell_kind {
	TABLE_CELL_EMPTY,     /* nothing to say */
	TABLE_CELL_ABSENT,    /* not measured; the text says why, if known */
	TABLE_CELL_NUMBER,    /* number */
	TABLE_CELL_SIGNED,    /* low */
	TABLE_CELL_REAL,      /* real */
	TABLE_CELL_SHARE,     /* real, of one: percent for people */
	TABLE_CELL_TEXT,      /* text; of a group, what `count` of the measured have */
	TABLE_CELL_LIST,      /* text, an item a line */
	TABLE_CELL_FLAG,      /* number */
	TABLE_CELL_UNLIMITED, /* no limit: "max" */
	TABLE_CELL_RANGE,     /* low, high */
	TABLE_CELL_LIMITS,    /* low to unlimited */
	TABLE_CELL_CATEGORY,  /* number is the code that `count` of the measured have */
	TABLE_CELL_CPUS,      /* low, high: how many CPUs; text: which, if all have the same */
};

struct cell {
	uint8_t kind, unit, mark;
	char sign; /* for people, before the value: '~' about, '>' at least; 0 for none */
	uint32_t count, measured, population;
	union {
		uint64_t number;
		double real;
		struct {
			int64_t low, high;
		};
	};
	size_t text; /* where it starts in the table's text */
};

struct table {
	ARRAY_OF(struct table_column) columns;
	ARRAY_OF(struct cell) cells;
	struct text text;
	/* For the next cell. */
	enum table_mark mark;
	char sign;
	size_t text_start;
	bool folds;	    /* also fold at TABLE_WIDTH when the output is not a terminal */
	const char *choice; /* the option that chooses columns, "-m"; NULL: there is none */
	bool failed;	    /* memory ran out somewhere */
	/* Writes each row as soon as it is complete. */
	void (*stream)(struct table *table);
	struct json *json;
	FILE *out;
};

/* The word for no limit. */
#define UNLIMITED "max"

/* How wide a folded table may be without a terminal. */
#define TABLE_WIDTH 120

void table_add_column(struct table *table, struct table_column column);
void table_add_title(struct table *table, const char *title, enum table_alignment alignment);
void table_add_columns(struct table *table, const struct table_column *columns, size_t count);
void table_clear(struct table *table);
size_t table_rows(const struct table *table); /* complete ones */

/* Each adds a cell, in the unit of its column.  Strings are copied. */
void put_empty(struct table *table);
void put_absent(struct table *table, const char *reason); /* NULL: not known */
void put_number(struct table *table, uint64_t number);
void put_amount(struct table *table, enum metric_unit unit, uint64_t number);
void put_signed(struct table *table, int64_t number);
void put_real(struct table *table, double real);
void put_share(struct table *table, double part, double whole); /* absent when whole is 0 */
void put_string(struct table *table, const char *string);	/* absent when NULL or empty */
void put_flag(struct table *table, bool flag);
void put_unlimited(struct table *table);
void put_category(struct table *table, enum metric_unit unit, uint64_t code);
/* A metric's value over a group, with its coverage. */
void put_fold(struct table *table, const struct fold *fold);

/*
 * A text made of parts: append to the text of put_begin(), then end it; a list
 * has an item a line.
 */
struct text *put_begin(struct table *table);
void put_end(struct table *table);
void put_end_list(struct table *table);

/* Marks the next cell for people. */
void table_mark(struct table *table, enum table_mark mark);
void table_sign(struct table *table, char sign);

/*
 * Text: the header and every complete row, never wider than the terminal, and a
 * line about columns that did not fit.  Returns 0, or -ENOMEM and prints
 * nothing.
 */
int table_print(const struct table *table, const struct terminal *terminal, FILE *out);

/* From now on each row is written when its last cell is put: as an object of the open array... */
void table_stream_json(struct table *table, struct json *json);
/* ...or as a line of CSV; the header is written at once. */
void table_stream_csv(struct table *table, FILE *out);

/* For painters. */
static inline const struct cell *table_at(const struct table *table, size_t row, size_t column)
{
	return &table->cells.data[row * table->columns.count + column];
}

static inline const char *table_text(const struct table *table, const struct cell *cell)
{
	return text_string(&table->text) + cell->text;
}

/* Appends a CSV field that is text: escaped as in every output, quoted when RFC 4180 wants it. */
void csv_append(struct text *out, const char *string);

#endif
