/* SPDX-License-Identifier: MIT */
/*
 * Writes a gzipped message of protocol buffers, field by field: numbers as varints, and texts and
 * inner messages with their length before them.  Private to src/export.
 *
 * Errors are kept until proto_close(), so that the caller need not look at each field.
 */
#ifndef EXPORT_PROTO_H
#define EXPORT_PROTO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "base/text.h"

/* An inner message while it is put together. */
void proto_number(struct text *message, unsigned field, uint64_t value); /* nothing when 0 */
/* Adds the inner message and empties it for the next one. */
void proto_message(struct text *message, unsigned field, struct text *inner);
/* A number without its field, for fields that hold several. */
void proto_varint(struct text *bytes, uint64_t value);

/* The outermost message, which is written as it grows. */
struct proto {
	FILE *out;
	z_stream stream;
	struct text fields; /* not compressed yet */
	int status;
};

int proto_open(struct proto *proto, FILE *out); /* 0 or -ENOMEM */
/* Where the next fields go; call proto_flush() now and then. */
struct text *proto_fields(struct proto *proto);
void proto_flush(struct proto *proto);
/* Writes the rest.  0 or -ENOMEM; errors of the stream are the caller's to see. */
int proto_close(struct proto *proto);

#endif
