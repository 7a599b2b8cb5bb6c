/* SPDX-License-Identifier: MIT */
/*
 * Unpacks and reads JSON value by value: memory holds a window of it and one
 * value.
 *
 * The stream only knows where a value ends; whether the value is valid is for a
 * parser to decide.  The first failure is remembered where the caller of
 * ctprof_stream_open() says; after it, the stream is at its end.
 */
#ifndef STORE_CTPROF_STREAM_H
#define STORE_CTPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/compression.h"

struct text;

/* No thread, cgroup or other single value is nearly as large. */
#define CTPROF_VALUE_MAX ((size_t)1 << 20)

/* The first thing that went wrong. */
struct ctprof_failure {
	int status;	   /* 0, -EBADMSG, -EFBIG or -ENOMEM */
	char problem[256]; /* of -EBADMSG, in words */
};

/* Keep the failure if it is the first, and return false. */
bool ctprof_fail(struct ctprof_failure *failure, int status);
bool ctprof_bad(struct ctprof_failure *failure, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct ctprof_stream {
	struct ctprof_failure *failure;
	struct decompressor decompressor;
	char *window;
	const char *next, *end; /* unpacked and not yet taken */
	uint64_t left;		/* bytes that may still come out */
};

/* The `size` bytes must stay in place.  Call ctprof_stream_close() in any case. */
void ctprof_stream_open(struct ctprof_stream *stream, const void *bytes, size_t size,
			struct ctprof_failure *failure);
void ctprof_stream_close(struct ctprof_stream *stream);

/* The next byte that is not blank, without taking it; '\0' at the end. */
char ctprof_stream_peek(struct ctprof_stream *stream);

/* Takes the next byte that is not blank, which must be `byte`. */
bool ctprof_stream_take(struct ctprof_stream *stream, char byte);

/*
 * Advances to the next element of a list or object: past the comma, unless it
 * is the first.  False after the closing bracket, which is taken, or a failure.
 */
bool ctprof_stream_next(struct ctprof_stream *stream, char close, bool first);

/*
 * Takes one whole value.  Numbers from 2^63 on come in quotes: the parser has
 * no unsigned 64-bit numbers.
 */
bool ctprof_stream_value(struct ctprof_stream *stream, struct text *ret);

#endif
