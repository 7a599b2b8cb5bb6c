/* SPDX-License-Identifier: MIT */
/*
 * Cells of a column as files have them: which rows have a value, and those values one after the
 * other.
 */
#ifndef STORE_CELLS_H
#define STORE_CELLS_H

#include <stddef.h>
#include <stdint.h>

struct bytes;
struct reader;

/* Writes which rows have a cell. */
void presence_write(struct bytes *bytes, const uint8_t *states, size_t rows, size_t count);
/* Sets states to CELL_NUMBER or CELL_ABSENT, and returns how many cells there are. */
size_t presence_read(struct reader *reader, uint8_t *states, size_t rows);

/* Moves the first `count` values to the rows that have one; the others get 0. */
void values_spread(uint64_t *values, const uint8_t *states, size_t rows, size_t count);

#endif
