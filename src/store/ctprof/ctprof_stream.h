/* SPDX-License-Identifier: MIT */
/*
 * Unpacks and reads JSON value by value: memory holds a window of it and one
 * value.
 *
 * The stream only knows where a value ends; whether the value is valid is for a
 * parser to decide.  Every function returns 0 or a negative errno: -EBADMSG
 * with a problem in words, -EFBIG, -ENOMEM.
 */
#ifndef STORE_CTPROF_STREAM_H
#define STORE_CTPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct text;

/* No thread, cgroup or other single value is nearly as large. */
#define CTPROF_VALUE_MAX ((size_t)1 << 20)

struct ctprof_stream {
	ZSTD_DCtx *decompressor; /* NULL when the input is plain JSON */
	ZSTD_inBuffer input;
	size_t frame_left; /* 0 when a frame has ended */
	char *window;
	const char *next, *end; /* unpacked and not yet taken */
	uint64_t left;		/* bytes that may still come out */
	const char *problem;
};

/* The `size` bytes must stay in place.  Call ctprof_stream_close() in any case. */
int ctprof_stream_open(struct ctprof_stream *stream, const void *bytes, size_t size,
		       bool compressed);
void ctprof_stream_close(struct ctprof_stream *stream);

/* The next byte that is not blank, without taking it; '\0' at the end. */
int ctprof_stream_peek(struct ctprof_stream *stream, char *ret);

/* Takes the next byte that is not blank, which must be `byte`. */
int ctprof_stream_take(struct ctprof_stream *stream, char byte);

/*
 * Advances to the next element of a list or object: past the comma, unless it
 * is the first. *ret_more is false after the closing bracket, which is taken.
 */
int ctprof_stream_next(struct ctprof_stream *stream, char close, bool first, bool *ret_more);

/*
 * Takes one whole value.  Numbers from 2^63 on come in quotes: the parser has
 * no unsigned 64-bit numbers.
 */
int ctprof_stream_value(struct ctprof_stream *stream, struct text *ret);

#endif
