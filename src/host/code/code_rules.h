/* SPDX-License-Identifier: MIT */
/*
 * Keeps the unwind rules that the service found, by file and address.  Rules that are equal are kept once: a row
 * takes 8 bytes.  When they take too much memory all are dropped, and asked for again.
 */
#ifndef HOST_CODE_RULES_H
#define HOST_CODE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/code/service/code_protocol.h"

struct code;
struct code_file;

/* The rules of all files together.  All zeros is valid. */
struct code_rules {
	ARRAY_OF(struct unwind_rules) list;
	uint32_t *slots; /* of a hash table: an index in the list plus one, 0 is free */
	size_t slot_count;
	uint64_t row_count;
};

/* The rules of one file.  A row reaches to the next; before the first and where it says so, nothing is known yet. */
struct code_rows {
	ARRAY_OF(struct code_row) list;
	bool has_none; /* the file has no rules at all */
};

/* Clears the list: of one file, or all. */
void code_rows_clear(struct code_rows *rows);
void code_rules_clear(struct code_rules *rules);

/*
 * The rules for an address of a file, which must be known; NULL when there are none.  Asks the service where
 * it must.  Valid until the next call.
 */
const struct unwind_rules *code_rules_find(struct code *code, struct code_file *file,
					   uint64_t address);

/* ---- for code_rules_find() and its tests ---- */

/* Whether the rows are in order and within their bounds, and hold the address that was asked for. */
bool code_rules_answer_is_valid(const struct code_rules_answer *answer, uint64_t address);

/* Puts the rows in place of what was there; `offset` is that of answer->start in the file.  0 or -ENOMEM. */
int code_rules_keep(struct code_rules *rules, struct code_rows *rows, uint32_t offset,
		    const struct code_rules_answer *answer);

#endif
