/* SPDX-License-Identifier: MIT */
/*
 * Buffers of bytes to write to and to read from.
 *
 * Both remember a failure instead of reporting it at each step, so a caller
 * checks once: `failed` says that memory ran out while writing, `bad` that
 * reading ran past the end or found something impossible.  After that, writing
 * does nothing and reading gives zeros and empty strings.
 */
#ifndef STORE_BYTES_H
#define STORE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_SIZE 10 /* the longest */
#define NAME_SIZE 64   /* the longest name of anything in a file, with its NUL */

/* All zeros is empty and valid. */
struct bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed;
};

/* Makes room for `more` bytes after the last one; NULL when there is no memory. */
uint8_t *bytes_reserve(struct bytes *bytes, size_t more);
void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_put_u8(struct bytes *bytes, uint8_t value);
void bytes_put_varint(struct bytes *bytes, uint64_t value);
void bytes_put_string(struct bytes *bytes, const char *string); /* its length, its bytes */
/* Empty again, as good as new. */
void bytes_clear(struct bytes *bytes);
void bytes_free(struct bytes *bytes);

struct reader {
	const uint8_t *next;
	const uint8_t *end;
	bool bad;
};

static inline size_t reader_left(const struct reader *reader)
{
	return (size_t)(reader->end - reader->next);
}

uint8_t reader_u8(struct reader *reader);
uint64_t reader_varint(struct reader *reader);
/* The next `size` bytes as a separate reader; empty when there are fewer. */
struct reader reader_part(struct reader *reader, uint64_t size);
/* A length and that many bytes, none of them NUL.  The bytes are not copied. */
const char *reader_string(struct reader *reader, size_t *ret_length);
/* A string that must fit `text` with its NUL. */
void reader_text(struct reader *reader, char *text, size_t capacity);

static inline void reader_name(struct reader *reader, char name[NAME_SIZE])
{
	reader_text(reader, name, NAME_SIZE);
}

/* Puts the low 7 bits of each of 8 bytes next to each other, those of the lowest byte first. */
static inline uint64_t varint_join(uint64_t word)
{
	word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
	word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
	return (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
}

/* The same as varint_read() for one that may be longer than 8 bytes or may be cut off. */
static inline const uint8_t *varint_read_bytes(const uint8_t *next, const uint8_t *end,
					       uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; next < end && shift < 64; shift += 7) {
		uint8_t byte = *next++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return next;
		}
	}
	return NULL;
}

/* Reads the varint at `next`, 7 bits a byte, lowest first; NULL when there is none. */
static inline const uint8_t *varint_read(const uint8_t *next, const uint8_t *end, uint64_t *ret)
{
	uint64_t word, ends;

	if ((size_t)(end - next) < sizeof(word))
		return varint_read_bytes(next, end, ret);
	memcpy(&word, next, sizeof(word));
	word = le64toh(word);
	ends = ~word & 0x8080808080808080; /* the top bit of each byte that could be the last */
	if (!ends)
		return varint_read_bytes(next, end, ret);
	*ret = varint_join(word & (ends ^ (ends - 1)));
	return next + __builtin_ctzll(ends) / 8 + 1;
}

static inline uint8_t *varint_write(uint8_t *next, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*next++ = (uint8_t)(value | 0x80);
	*next++ = (uint8_t)value;
	return next;
}

/* A byte for each 7 bits begun, without a division: right for 1 to 64 bits. */
static inline unsigned varint_size(uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

	return (bits * 9 + 64) / 64;
}

/* Small numbers of either sign become small numbers: 0 -1 1 -2 to 0 1 2 3. */
static inline uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (value >> 63 ? UINT64_MAX : 0);
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
}

#endif
