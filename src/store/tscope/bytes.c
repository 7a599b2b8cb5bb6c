/* SPDX-License-Identifier: MIT */
#include "store/tscope/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "base/collection/array.h"

uint8_t *bytes_reserve(struct bytes *bytes, size_t more)
{
	if (bytes->failed || more > SIZE_MAX / 2 - bytes->size ||
	    array_reserve_bytes((void **)&bytes->data, &bytes->capacity, bytes->size + more, 1) < 0)
		bytes->failed = true;
	return bytes->failed ? NULL : bytes->data + bytes->size;
}

void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	if (!size || !bytes_reserve(bytes, size))
		return;
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

void bytes_put_u8(struct bytes *bytes, uint8_t value)
{
	bytes_put(bytes, &value, 1);
}

void bytes_put_varint(struct bytes *bytes, uint64_t value)
{
	uint8_t buffer[VARINT_SIZE];

	bytes_put(bytes, buffer, (size_t)(varint_write(buffer, value) - buffer));
}

void bytes_put_string(struct bytes *bytes, const char *string)
{
	size_t length = strlen(string);

	bytes_put_varint(bytes, length);
	bytes_put(bytes, string, length);
}

void bytes_clear(struct bytes *bytes)
{
	bytes->size = 0;
	bytes->failed = false;
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

static void reader_fail(struct reader *reader)
{
	reader->bad = true;
	reader->next = reader->end;
}

uint8_t reader_u8(struct reader *reader)
{
	if (reader->next == reader->end) {
		reader_fail(reader);
		return 0;
	}
	return *reader->next++;
}

uint64_t reader_varint(struct reader *reader)
{
	uint64_t value;
	const uint8_t *next = varint_read(reader->next, reader->end, &value);

	if (!next) {
		reader_fail(reader);
		return 0;
	}
	reader->next = next;
	return value;
}

struct reader reader_part(struct reader *reader, uint64_t size)
{
	struct reader part = { .next = reader->next, .end = reader->next };

	if (size > reader_left(reader)) {
		reader_fail(reader);
		return (struct reader){ .next = reader->end, .end = reader->end, .bad = true };
	}
	part.end += size;
	reader->next = part.end;
	return part;
}

const char *reader_string(struct reader *reader, size_t *ret_length)
{
	struct reader string = reader_part(reader, reader_varint(reader));
	size_t length = reader_left(&string);

	if (reader->bad || (length && memchr(string.next, '\0', length))) {
		reader_fail(reader);
		*ret_length = 0;
		return "";
	}
	*ret_length = length;
	return (const char *)string.next;
}

void reader_text(struct reader *reader, char *text, size_t capacity)
{
	size_t length;
	const char *string = reader_string(reader, &length);

	if (length >= capacity) {
		reader_fail(reader);
		length = 0;
	}
	memcpy(text, string, length);
	text[length] = '\0';
}
