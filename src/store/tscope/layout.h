/* SPDX-License-Identifier: MIT */
/*
 * The payload of a .tscope file: a list of named blocks.  A reader skips blocks
 * that it does not know.  docs/file-format.md has the bytes.
 */
#ifndef STORE_LAYOUT_H
#define STORE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/snapshot/snapshot.h"

struct decoder;
struct encoder;
struct reader;

/* How a block's body is written.  These numbers are in files, so they never change. */
enum block_type {
	BLOCK_VALUES = 1,  /* names with a number or a text each */
	BLOCK_STRINGS = 2, /* texts, numbered from 1 */
	BLOCK_ROWS = 3,	   /* how many rows there are, and each one's id */
	BLOCK_FIELD = 4,   /* one more member of every row */
	BLOCK_COLUMN = 5,  /* a metric's cells */
	BLOCK_REASONS = 6, /* why cells of a metric are missing */
	BLOCK_SOURCES = 7, /* how each source of the capture did */
	BLOCK_SHEET = 8,   /* readings: rows, and columns under names of their own */
};

/* How a kind of block is written and read. */
struct block {
	enum block_type type;
	const char *name; /* NULL: there may be one under each of several names */
	/* Builds the body; of a block without a name here, sends one block for each name. */
	void (*encode)(struct encoder *encoder);
	void (*decode)(struct decoder *decoder, const char *name, struct reader *body);
};

/* In the order that a reader needs: strings before rows, rows before columns. */
extern const struct block blocks[];
extern const size_t block_count;

/* encode.c */
void encode_facts(struct encoder *encoder);
void encode_strings(struct encoder *encoder);
void encode_rows(struct encoder *encoder);
void encode_fields(struct encoder *encoder);
void encode_columns(struct encoder *encoder);
void encode_reasons(struct encoder *encoder);
void encode_sources(struct encoder *encoder);
void encode_tally(struct encoder *encoder);
void encode_sheets(struct encoder *encoder);

/* In BLOCK_VALUES, before each value. */
enum value_type {
	VALUE_NUMBER = 0,
	VALUE_TEXT = 1,
};

/* In BLOCK_COLUMN: which cells have a value. */
enum presence {
	PRESENCE_ALL = 0,
	PRESENCE_BITS = 1, /* a bit a row, lowest first, then zeros to the end of the byte */
};

/* In BLOCK_SHEET: what is known of a column. */
enum column_flags {
	COLUMN_HAS_ORIGIN = 1,
	COLUMN_HAS_REASON = 2,
	COLUMN_HAS_CELLS = 4,
};

/* What each kind of thing costs a reader, in cells of some 9 bytes. */
#define CELLS_PER_PROCESS 8
#define CELLS_PER_TASK 4
#define CELLS_PER_STRING 8
#define CELLS_PER_READING 16 /* a column of a sheet */
#define CELLS_PER_SHEET_ROW 3

enum field_type {
	FIELD_NONE,    /* always 0 */
	FIELD_ID,      /* int32_t */
	FIELD_TIME,    /* uint64_t */
	FIELD_STRING,  /* uint32_t, number of a string */
	FIELD_PROCESS, /* uint32_t, row of a process */
	FIELD_TASK,    /* uint32_t, row of a task */
};

/* A member of struct process or struct task. */
struct field {
	const char *name; /* of its block */
	enum metric_scope scope;
	enum field_type type;
	size_t offset;
};

/* The rows of a scope: its BLOCK_ROWS. */
struct row_table {
	struct field id;
	unsigned cells_per_row; /* what a row costs a reader besides its metrics */
};

extern const struct row_table row_tables[];
extern const size_t row_table_count;
extern const struct field fields[];
extern const size_t field_count;

/* The field's value in a row, and back; field_set() is false for a value that does not fit. */
uint64_t field_get(const struct snapshot *snapshot, const struct field *field, size_t row);
bool field_set(struct snapshot *snapshot, const struct field *field, size_t row, uint64_t value);

/* Whether the snapshot can have such a value. */
bool field_fits(const struct snapshot *snapshot, enum field_type type, uint64_t value);

size_t scope_rows(const struct snapshot *snapshot, enum metric_scope scope);

/* What the keys of a sheet's rows are. */
extern const enum field_type sheet_keys[SHEET_COUNT];

/* A member of struct capture_tally. */
struct tally_member {
	const char *name;
	size_t offset;
};

extern const struct tally_member tally_members[];
extern const size_t tally_member_count;

#endif
