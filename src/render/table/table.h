/* SPDX-License-Identifier: MIT */
/*
 * Tables for all outputs.  A view fills a table, and a painter prints it: as
 * text that fits the terminal (paint_text.c), as JSON (paint_json.c) or as CSV
 * (paint_csv.c).
 *
 *	static const struct table_column columns[] = {
 *		{ "thread", TABLE_NAME, .id = "comm" },
 *		{ "on cpu", TABLE_RIGHT, 2, .id = "run_time_ns", .unit = UNIT_NS },
 *	};
 *	CLEANUP(table_clear) struct table table = { 0 };
 *	table_add_columns(&table, columns, ARRAY_SIZE(columns));
 *	put_string(&table, thread->comm);
 *	put_number(&table, thread->run_time_ns);
 *	table_print(&table, &terminal, stdout);
 *
 * Cells fill the columns from left to right, row by row.  They hold values, not
 * what is printed: painters scale, escape and quote.  A table that is all zeros is
 * empty and valid.
 */
#ifndef RENDER_TABLE_TABLE_H
#define RENDER_TABLE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/collection/array.h"
#include "base/text.h"
#include "metric/metric.h"
#include "render/style.h"
#include "render/terminal.h"

struct fold;
struct json;

enum table_alignment {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_NAME, /* left; cut in the middle when the rows are wider than the terminal */
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
	/* JSON: the words of an id are nested keys, and `inside` are words before it. */
	const char *inside;
	bool has_coverage; /* JSON: the value is an object, with how many were measured */
	bool is_nullable;  /* JSON: null when it is absent; else it has no key then */
	bool is_nested;	   /* JSON: not a member of the row itself; table_add_column() finds out */
};

enum cell_kind {
	TABLE_CELL_EMPTY,     /* nothing for programs; the text for people */
	TABLE_CELL_ABSENT,    /* not measured; the text says why, if known */
	TABLE_CELL_NUMBER,    /* number */
	TABLE_CELL_SIGNED,    /* low */
	TABLE_CELL_REAL,      /* real */
	TABLE_CELL_SHARE,     /* real, of one: percent for people */
	TABLE_CELL_CHANGE,    /* real; "+" for people */
	TABLE_CELL_PERCENT,   /* the same, in percent */
	TABLE_CELL_DELTA,     /* a whole change: number, less than 0 if high is */
	TABLE_CELL_TEXT,      /* text; of a group, what `count` of the measured have */
	TABLE_CELL_LIST,      /* text, an item a line */
	TABLE_CELL_FLAG,      /* number */
	TABLE_CELL_UNLIMITED, /* no limit: "max" */
	TABLE_CELL_RANGE,     /* low, high; JSON: an object */
	TABLE_CELL_LIMITS,    /* low to unlimited */
	TABLE_CELL_CATEGORY,  /* number is the code that `count` of the measured have */
	TABLE_CELL_CPUS,      /* low, high: how many CPUs; text: which, if all have the same */
};

/*
 * How people read numbers that belong together: in the unit that suits the
 * largest, with the range of the runs that it stands for, if they differ.
 */
struct cell_scale {
	double largest, low, high;
};

struct cell {
	uint8_t kind, unit, mark;
	bool is_rate; /* people read "/s" after it */
	union {
		uint32_t count;
		uint32_t scale; /* of a number: see table_scale(); 0: the unit that suits it */
	};
	uint32_t measured, population;
	union {
		uint64_t number;
		double real;
		struct {
			int64_t low, high;
		};
	};
	/*
	 * Where its text starts in the table's.  For a value that is not a text,
	 * it is what people read before it: "~" for about, ">" for at least.
	 */
	size_t text;
};

/* `text` of a cell without one. */
#define TABLE_NO_TEXT SIZE_MAX

struct table {
	ARRAY_OF(struct table_column) columns;
	ARRAY_OF(struct cell) cells;
	ARRAY_OF(struct cell_scale) scales;
	struct text text;
	/* For the next cell. */
	enum style mark;
	size_t text_start;
	bool folds;	    /* also fold at TABLE_WIDTH when the output is not a terminal */
	const char *choice; /* the option that chooses columns, "-m"; NULL: there is none */
	bool failed;	    /* memory ran out somewhere */
	/* Writes each row as soon as it is complete. */
	void (*stream)(struct table *table);
	struct json *json;
	FILE *out;
	struct text line; /* of CSV, while it is made */
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

/* Whether people read it; a view may say more to them than to programs. */
static inline bool table_is_for_people(const struct table *table)
{
	return !table->stream;
}

/* Each adds a cell, in the unit of its column.  Strings are copied. */
void put_empty(struct table *table);
void put_word(struct table *table, const char *word);	  /* for people; programs get nothing */
void put_absent(struct table *table, const char *reason); /* NULL: not known */
void put_number(struct table *table, uint64_t number);
void put_known(struct table *table, bool is_known, uint64_t number); /* else absent */
void put_amount(struct table *table, enum metric_unit unit, uint64_t number);
void put_signed(struct table *table, int64_t number);
void put_real(struct table *table, double real);
void put_share(struct table *table, double part, double whole); /* absent when whole is 0 */
void put_text(struct table *table, const char *text);		/* may be empty */
void put_string(struct table *table, const char *string);	/* absent when NULL or empty */
void put_flag(struct table *table, bool flag);
/* A metric's value over a group, with its coverage. */
void put_fold(struct table *table, const struct fold *fold);
/* Any other, that the caller fills in, but for the mark and where the text starts. */
void put_cell(struct table *table, struct cell cell);

/*
 * A text made of parts: append to the text of put_begin(), then end it; a list
 * has an item a line.
 */
struct text *put_begin(struct table *table);
void put_end(struct table *table);
void put_end_list(struct table *table);

/* Marks the next cell for people; a sign is '~' or '>', 0 for none. */
void table_mark(struct table *table, enum style mark);
void table_sign(struct table *table, char sign);
/* For `scale` of cells. */
uint32_t table_scale(struct table *table, struct cell_scale scale);

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
	return cell->text == TABLE_NO_TEXT ? "" : table->text.data + cell->text;
}

/* Takes the next item off a list; NULL at its end. */
const char *table_next_item(const char **items, size_t *ret_length);

/* Appends the value as people read it; "*" at its end: only part of a group was measured. */
void cell_text(struct text *out, const struct table *table, const struct cell *cell);

void table_append_range(struct text *out, const struct cell *cell); /* low..high, or one number */

#endif
