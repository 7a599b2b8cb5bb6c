/* SPDX-License-Identifier: MIT */
/*
 * Pieces of a line, and what becomes of them: what the parsers of kernel_parse.h share.
 */
#ifndef COLLECT_KERNEL_LINE_H
#define COLLECT_KERNEL_LINE_H

#include <stdbool.h>

#include "collect/kernel_parse.h"

/* A piece of a line: up to a blank. */
struct piece {
	const char *start;
	size_t length;
};

extern const struct piece no_piece;

struct kernel_parser {
	struct kernel_sink *sink;
	int bad;
	bool has_given;	   /* at least one value */
	struct piece disk; /* of diskstats: the disk before, which partitions follow */
	size_t cpus;	   /* of interrupts: how many the first line names */
};

/* The next piece of the line that ends at `end`; of length 0 when there is none. */
struct piece kernel_next_piece(const char **cursor, const char *end);

/* Whether the piece is short, and of characters that a name of a reading may have. */
bool kernel_is_key(struct piece piece);
bool kernel_is_word(struct piece piece, const char *word);
bool kernel_piece_number(struct piece piece, uint64_t *ret);

/* A number with `decimals` digits after the point: fewer are filled up, more are cut off. */
bool kernel_decimal(struct piece piece, size_t decimals, uint64_t *ret);

/* Puts pieces together with a blank between; both must be keys, or empty. */
void kernel_set_key(struct kernel_value *value, struct piece first, struct piece second);

/* Give a value to the sink: what take() returned. */
int kernel_give(struct kernel_parser *parser, const struct kernel_value *value);
int kernel_give_number(struct kernel_parser *parser, struct piece first, struct piece second,
		       uint64_t number);

/* Counts a piece that makes no sense.  0. */
int kernel_reject(struct kernel_parser *parser);

#endif
