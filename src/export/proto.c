/* SPDX-License-Identifier: MIT */
#include "export/proto.h"

#include <errno.h>

#define VARINT 0
#define LENGTH_DELIMITED 2
#define FLUSH_BYTES ((size_t)64 * 1024)
/* The largest window, and a gzip header around the data. */
#define GZIP_WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8

void proto_varint(struct text *bytes, uint64_t value)
{
	char digits[10];
	size_t length = 0;

	for (; value >= 0x80; value >>= 7)
		digits[length++] = (char)(value | 0x80);
	digits[length++] = (char)value;
	text_append(bytes, digits, length);
}

void proto_number(struct text *message, unsigned field, uint64_t value)
{
	if (!value)
		return;
	proto_varint(message, field << 3 | VARINT);
	proto_varint(message, value);
}

static void proto_bytes(struct text *message, unsigned field, const void *bytes, size_t length)
{
	proto_varint(message, field << 3 | LENGTH_DELIMITED);
	proto_varint(message, length);
	text_append(message, bytes, length);
}

void proto_message(struct text *message, unsigned field, struct text *inner)
{
	proto_bytes(message, field, text_string(inner), inner->length);
	message->failed |= inner->failed;
	text_clear(inner);
}

int proto_open(struct proto *proto, FILE *out)
{
	*proto = (struct proto){ .out = out };
	return deflateInit2(&proto->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS,
			    MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK ?
		       0 :
		       -ENOMEM;
}

struct text *proto_fields(struct proto *proto)
{
	return &proto->fields;
}

/* Compresses all fields so far; with Z_FINISH also the end of the stream. */
static void compress_fields(struct proto *proto, int flush)
{
	Bytef piece[16384];

	if (proto->fields.failed)
		proto->status = -ENOMEM;
	proto->stream.next_in = (Bytef *)text_string(&proto->fields);
	proto->stream.avail_in = (uInt)proto->fields.length;
	do {
		proto->stream.next_out = piece;
		proto->stream.avail_out = sizeof(piece);
		deflate(&proto->stream, flush);
		fwrite(piece, 1, sizeof(piece) - proto->stream.avail_out, proto->out);
	} while (proto->stream.avail_out == 0);
	text_clear(&proto->fields);
}

void proto_flush(struct proto *proto)
{
	if (proto->fields.length >= FLUSH_BYTES)
		compress_fields(proto, Z_NO_FLUSH);
}

int proto_close(struct proto *proto)
{
	compress_fields(proto, Z_FINISH);
	deflateEnd(&proto->stream);
	text_free(&proto->fields);
	return proto->status;
}
