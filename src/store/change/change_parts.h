/* SPDX-License-Identifier: MIT */
/*
 * What finding and applying changes share: the blocks of a payload, joined rows, and lists of
 * changed cells.
 */
#ifndef STORE_CHANGE_PARTS_H
#define STORE_CHANGE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "store/change/change.h"

/* How the next version of a block is told.  These numbers are in files, so they never change. */
enum change_kind {
	CHANGE_SAME = 0,    /* as it was */
	CHANGE_WHOLE = 1,   /* its new body */
	CHANGE_ROWS = 2,    /* rows that are gone, and new ones with their ids */
	CHANGE_FIELD = 3,   /* numbers of rows */
	CHANGE_COLUMN = 4,  /* cells of rows */
	CHANGE_SHEET = 5,   /* rows, columns and cells */
	CHANGE_ENTRIES = 6, /* numbers of entries, and entries whose texts differ */
	CHANGE_TEXTS = 7,   /* texts after those that were there */
};

/* Which rows a number of a field, or the key of a sheet's row, refers to.  In files, too. */
enum change_target {
	TARGET_NONE = 0,
	TARGET_TASK = 1,
	TARGET_PROCESS = 2,
};

/* A block of a payload. */
struct part {
	const char *name; /* not NUL-terminated */
	size_t name_length;
	uint8_t type;
	struct reader body;
	const uint8_t *begin; /* of the whole block; it ends where its body does */
};

struct parts {
	ARRAY_OF(struct part) list;
};

/* 0, -ENOMEM or -EBADMSG. */
int parts_read(const struct bytes *payload, struct parts *ret);
/* The block of that type and name from the one with number `from` on, or NULL. */
const struct part *parts_find(const struct parts *parts, size_t from, uint8_t type,
			      const char *name, size_t length);

#define ROW_NONE UINT32_MAX

/* Which row of the base each row was; rows that stay keep their order. */
struct row_map {
	uint32_t *base; /* by row: the row of the base, or ROW_NONE for a new one */
	uint32_t *now;	/* by row of the base: the row, or ROW_NONE for one that is gone */
	size_t rows, base_rows;
};

void row_map_clear(struct row_map *map);

/* Identifies a row. */
struct row_key {
	uint64_t first, second;
};

/* Joins rows with equal keys.  0 or -ENOMEM. */
int row_map_join(struct row_map *map, const struct row_key *base, size_t base_rows,
		 const struct row_key *now, size_t rows);
/* The new rows' ids come from `ids`, which has one for each row. */
void row_map_write(const struct row_map *map, const uint64_t *ids, struct bytes *out);
/*
 * The other way: `base_ids` are those of the base as they would be now.  *ret_ids gets those of all
 * rows, to be freed.  0, -ENOMEM, -EFBIG or -EBADMSG.
 */
int row_map_read(struct row_map *map, struct reader *changes, const uint64_t *base_ids,
		 size_t base_rows, uint64_t row_limit, uint64_t **ret_ids);

/* Cells of a column, in arrays that are used again and again. */
struct cells {
	uint64_t *values; /* 0 where the state has no value */
	uint8_t *states;  /* enum cell_state */
	size_t capacity;
};

int cells_reserve(struct cells *cells, size_t rows); /* 0 or -ENOMEM */
void cells_clear(struct cells *cells);
bool cell_has_value(uint64_t state);

/* The cells that the rows would have if nothing had changed. */
int cells_predict(struct cells *ret, const struct cells *base, const struct row_map *map);

struct change_list {
	ARRAY_OF(uint64_t) positions;
	ARRAY_OF(uint64_t) states;
	ARRAY_OF(uint64_t) differences; /* to the predicted values, of cells that have one */
};

void change_list_empty(struct change_list *list);
void change_list_clear(struct change_list *list);
/* Adds the cells that differ from the prediction; they count from `offset` on.  0 or -ENOMEM. */
int change_list_compare(struct change_list *list, uint64_t offset, const struct cells *predicted,
			const struct cells *now, size_t rows);
void change_list_write(const struct change_list *list, struct bytes *out);
/* Positions are below `limit`.  0, -ENOMEM or -EBADMSG. */
int change_list_read(struct change_list *list, struct reader *changes, uint64_t limit);

/* Where applying a list is. */
struct change_cursor {
	size_t next, next_difference;
};

/* Turns predicted cells into those that are; -EBADMSG for a state that does not exist. */
int change_list_apply(const struct change_list *list, struct change_cursor *cursor, uint64_t offset,
		      struct cells *cells, size_t rows);

/* The state of finding or applying. */
struct change {
	struct parts base, now; /* `now` only when finding */
	struct row_map tasks, processes;
	struct change_list list;
	struct cells cells, base_cells, predicted;
	struct bytes *out;	/* the changes, or the new payload */
	struct reader *changes; /* only when applying */
	struct change_limits limits;
};

void change_clear(struct change *change);

/* Takes so many cells off what applying may cost.  0 or -EFBIG. */
int change_spend(struct change *change, uint64_t cells);

/* The rows that fields and columns of a scope (enum metric_scope) have, or NULL. */
const struct row_map *change_map(const struct change *change, uint8_t scope);
/* Where a row of the base, as a field or key names it, is now; 0 where it is gone. */
uint64_t change_translate(const struct change *change, uint8_t target, uint64_t number);

/* Head and cells of a column of tasks or processes.  0, -ENOMEM or -EBADMSG. */
int column_read(struct reader body, size_t rows, struct reader *ret_head, struct cells *ret);
int field_read(struct reader body, size_t rows, struct cells *ret);

/* A sheet's body, with the place of each column. */
struct sheet_column {
	struct reader head; /* name, flags, notes, unit, kind */
	const char *name;
	size_t name_length;
	struct reader cells; /* empty when it has none */
};

struct sheet_parts {
	uint64_t *keys;
	size_t rows;
	ARRAY_OF(struct sheet_column) columns;
};

void sheet_parts_clear(struct sheet_parts *sheet);
int sheet_parts_read(struct reader body, uint64_t row_limit, struct cells *work,
		     struct sheet_parts *ret);
/* Reads the head of a column, and whether cells follow. */
bool sheet_head_read(struct reader *body, struct sheet_column *ret);
int sheet_cells_read(const struct sheet_column *column, size_t rows, struct cells *ret);

/* An entry of a block of values, sources or reasons: bytes, then numbers. */
#define ENTRY_NUMBERS 2
struct entry_part {
	struct reader bytes;
	unsigned count;
	uint64_t numbers[ENTRY_NUMBERS];
};

struct entries {
	ARRAY_OF(struct entry_part) list;
};

/* 0, -ENOMEM, or -EBADMSG, also for a type that has no entries. */
int entries_read(struct reader body, uint8_t type, struct entries *ret);

/* find_*: write the change of one block, or return -EBADMSG: then it is written as a whole. */
int find_sheet_change(struct change *change, const struct part *base, const struct part *now);
int find_entries_change(struct change *change, const struct part *base, const struct part *now);
/* apply_*: write the new body of one block. */
int apply_sheet_change(struct change *change, const struct part *base, struct bytes *body);
int apply_entries_change(struct change *change, const struct part *base, struct bytes *body);

#endif
