/* SPDX-License-Identifier: MIT */
/*
 * Writes many 64-bit numbers as few bytes: a column's values, the ids of rows.
 *
 * One byte says how they are written, then come the numbers as varints:
 *
 *	same	one number that stands for all
 *	plain	each number
 *	signed	each number, zigzagged
 *	delta	the first number, then the difference to the one before, all
 *		zigzagged; differences wrap, so every 64-bit number survives
 */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct reader;

enum series_encoding {
	SERIES_SAME,
	SERIES_PLAIN,
	SERIES_SIGNED,
	SERIES_DELTA,
};

/* Writes the numbers in the encoding that takes the fewest bytes. */
void series_write(struct bytes *bytes, const uint64_t *numbers, size_t count);

/* Reads `count` numbers.  If that fails, the reader is bad and the rest is unset. */
void series_read(struct reader *reader, uint64_t *numbers, size_t count);

#endif
