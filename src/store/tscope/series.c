/* SPDX-License-Identifier: MIT */
#include "store/tscope/series.h"

#include <stdbool.h>
#include <string.h>

#include "store/tscope/bytes.h"

/* How many bytes each encoding would take. */
static void measure(const uint64_t *numbers, size_t count, uint64_t sizes[static SERIES_DELTA + 1])
{
	uint64_t plain = 0, with_sign = 0, delta = 0;
	uint64_t previous = 0;

	for (size_t i = 0; i < count; i++) {
		plain += varint_size(numbers[i]);
		with_sign += varint_size(zigzag(numbers[i]));
		delta += varint_size(zigzag(numbers[i] - previous));
		previous = numbers[i];
	}
	sizes[SERIES_PLAIN] = plain;
	sizes[SERIES_SIGNED] = with_sign;
	sizes[SERIES_DELTA] = delta;
}

static enum series_encoding smallest(const uint64_t sizes[static SERIES_DELTA + 1])
{
	enum series_encoding best = SERIES_PLAIN;

	for (int encoding = SERIES_SIGNED; encoding <= SERIES_DELTA; encoding++)
		if (sizes[encoding] < sizes[best])
			best = (enum series_encoding)encoding;
	return best;
}

static uint8_t *write_numbers(uint8_t *next, enum series_encoding encoding, const uint64_t *numbers,
			      size_t count)
{
	uint64_t previous = 0;

	for (size_t i = 0; i < count; i++) {
		bool has_sign = encoding == SERIES_SIGNED || encoding == SERIES_DELTA;

		next = varint_write(next, has_sign ? zigzag(numbers[i] - previous) : numbers[i]);
		previous = encoding == SERIES_DELTA ? numbers[i] : 0;
	}
	return next;
}

/* Most columns of an idle host hold one number; comparing shifted by one finds that fast. */
static int all_same(const uint64_t *numbers, size_t count)
{
	return count && memcmp(numbers, numbers + 1, (count - 1) * sizeof(*numbers)) == 0;
}

/* Whether each number is one byte: then no other encoding takes fewer. */
static bool all_small(const uint64_t *numbers, size_t count)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < count && bits < 0x80; i++)
		bits |= numbers[i];
	return bits < 0x80;
}

static void write_small(struct bytes *bytes, const uint64_t *numbers, size_t count)
{
	uint8_t *start = bytes_reserve(bytes, 1 + count);

	if (!start)
		return;
	*start++ = SERIES_PLAIN;
	for (size_t i = 0; i < count; i++)
		start[i] = (uint8_t)numbers[i];
	bytes->size += 1 + count;
}

void series_write(struct bytes *bytes, const uint64_t *numbers, size_t count)
{
	uint64_t sizes[SERIES_DELTA + 1] = { [SERIES_SAME] = VARINT_SIZE };
	enum series_encoding encoding = SERIES_SAME;
	uint8_t *start;

	if (!all_same(numbers, count)) {
		if (all_small(numbers, count)) {
			write_small(bytes, numbers, count);
			return;
		}
		measure(numbers, count, sizes);
		encoding = smallest(sizes);
	}
	start = bytes_reserve(bytes, 1 + sizes[encoding]);
	if (!start)
		return;
	*start = (uint8_t)encoding;
	if (encoding == SERIES_SAME)
		count = 1;
	bytes->size += (size_t)(write_numbers(start + 1, encoding, numbers, count) - start);
}

static void read_same(struct reader *reader, uint64_t *numbers, size_t count)
{
	uint64_t number = reader_varint(reader);

	for (size_t i = 0; i < count; i++)
		numbers[i] = number;
}

/* Whether the next 8 numbers are one byte each. */
static inline bool are_small(const uint8_t *next, const uint8_t *end)
{
	uint64_t word;

	if ((size_t)(end - next) < sizeof(word))
		return false;
	memcpy(&word, next, sizeof(word));
	return !(word & 0x8080808080808080);
}

static inline __attribute__((always_inline)) void
read_varints(struct reader *reader, enum series_encoding encoding, uint64_t *numbers, size_t count)
{
	bool has_sign = encoding == SERIES_SIGNED || encoding == SERIES_DELTA;
	const uint8_t *next = reader->next;
	uint64_t previous = 0, number = 0;

	for (size_t i = 0; i < count && next; i++) {
		next = varint_read(next, reader->end, &number);
		numbers[i] = (has_sign ? unzigzag(number) : number) + previous;
		previous = encoding == SERIES_DELTA ? numbers[i] : 0;
		/* Small numbers come together. */
		while (next && count - i > 8 && are_small(next, reader->end))
			for (int j = 0; j < 8; j++) {
				number = *next++;
				numbers[++i] = (has_sign ? unzigzag(number) : number) + previous;
				previous = encoding == SERIES_DELTA ? numbers[i] : 0;
			}
	}
	reader->bad |= !next;
	reader->next = next ? next : reader->end;
}

/* One loop for each encoding, so that none of them asks for it again and again. */
void series_read(struct reader *reader, uint64_t *numbers, size_t count)
{
	switch (reader_u8(reader)) {
	case SERIES_SAME:
		read_same(reader, numbers, count);
		return;
	case SERIES_PLAIN:
		read_varints(reader, SERIES_PLAIN, numbers, count);
		return;
	case SERIES_SIGNED:
		read_varints(reader, SERIES_SIGNED, numbers, count);
		return;
	case SERIES_DELTA:
		read_varints(reader, SERIES_DELTA, numbers, count);
		return;
	default:
		reader->bad = true;
	}
}
