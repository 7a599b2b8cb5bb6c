/* SPDX-License-Identifier: MIT */
#include "store/tscope/cells.h"

#include <string.h>

#include "model/snapshot/column.h"
#include "store/tscope/bytes.h"
#include "store/tscope/layout.h"

void presence_write(struct bytes *bytes, const uint8_t *states, size_t rows, size_t count)
{
	size_t size = (rows + 7) / 8;
	uint8_t *bits;

	bytes_put_u8(bytes, count == rows ? PRESENCE_ALL : PRESENCE_BITS);
	if (count == rows)
		return;
	bits = bytes_reserve(bytes, size);
	if (!bits)
		return;
	memset(bits, 0, size);
	for (size_t row = 0; row < rows; row++)
		bits[row / 8] |= (uint8_t)((states[row] != CELL_ABSENT) << row % 8);
	bytes->size += size;
}

size_t presence_read(struct reader *reader, uint8_t *states, size_t rows)
{
	uint8_t how = reader_u8(reader);
	struct reader bits;
	size_t count = 0;

	if (how == PRESENCE_ALL) {
		memset(states, CELL_NUMBER, rows);
		return rows;
	}
	bits = reader_part(reader, (rows + 7) / 8);
	if (how != PRESENCE_BITS || bits.bad || (rows % 8 && bits.end[-1] >> rows % 8)) {
		reader->bad = true;
		return 0;
	}
	for (size_t row = 0; row < rows; row++) {
		states[row] = bits.next[row / 8] >> row % 8 & 1 ? CELL_NUMBER : CELL_ABSENT;
		count += states[row] == CELL_NUMBER;
	}
	return count;
}

/* From the end, so that none is overwritten. */
void values_spread(uint64_t *values, const uint8_t *states, size_t rows, size_t count)
{
	if (count == rows)
		return;
	for (size_t row = rows; row-- > 0;)
		values[row] = states[row] ? values[--count] : 0;
}
