/* SPDX-License-Identifier: MIT */
/*
 * Checks and keeps the names that the code service tells about one file.
 *
 * A function without debug information is asked for once: its answer holds for all its addresses.
 */
#ifndef HOST_CODE_NAME_ANSWER_H
#define HOST_CODE_NAME_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"

struct code_name_answer;
struct dictionary;

/* Texts are numbers of a dictionary; 0: not known. */
struct kept_name {
	uint32_t function, source;
	uint32_t line;
	bool is_inlined;
};

struct kept_range {
	uint64_t start, end; /* 0 < end - start */
	uint64_t function_start;
	uint32_t first; /* name */
	uint32_t count;
};

/* All zeros is empty and valid. */
struct kept_names {
	ARRAY_OF(struct kept_range) ranges; /* ascending; none overlap */
	ARRAY_OF(struct kept_name) names;
};

void kept_names_clear(struct kept_names *names);

/* Whether an answer of that many bytes about an address makes sense. */
bool name_answer_is_valid(const struct code_name_answer *answer, size_t size, uint64_t address);

/* Keeps a valid answer.  Its range loses what other answers have.  0 or -ENOMEM. */
int kept_names_add(struct kept_names *names, const struct code_name_answer *answer,
		   uint64_t address, struct dictionary *texts);

/* NULL: nothing is kept about this address. */
const struct kept_range *kept_names_find(const struct kept_names *names, uint64_t address);

#endif
