/* SPDX-License-Identifier: MIT */
/*
 * JSON that is unpacked while it is read, value by value: memory holds a window
 * of it and one value.
 *
 * The stream knows where a value ends and nothing else of JSON; whether a value
 * is right is for a parser to say.  Every function gives 0 or a negative errno:
 * -EBADMSG with a problem in words, -EFBIG, -ENOMEM.
 */
#ifndef STORE_CTPROF_STREAM_H
#define STORE_CTPROF_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

struct text;

/* No thread, cgroup or other single value comes near. */
#define CTPROF_VALUE_MAX ((size_t)1 << 20)

struct ctprof_stream {
	ZSTD_DCtx *decompressor; /* NULL when the input is JSON as it is */
	ZSTD_inBuffer input;
	size_t frame_left; /* 0 when a frame has ended */
	char *window;
	const char *next, *end; /* what is unpacked and not yet taken */
	uint64_t left;		/* bytes that may still come out */
	const char *problem;
};

/* Reads `size` bytes that stay where they are.  ctprof_stream_close() ends it in any case. */
int ctprof_stream_open(struct ctprof_stream *stream, const void *bytes, size_t size,
		       bool compressed);
void ctprof_stream_close(struct ctprof_stream *stream);

/* The next byte that is no blank, which stays there; '\0' at the end. */
int ctprof_stream_peek(struct ctprof_stream *stream, char *ret);

/* Takes that byte, which must be `byte`. */
int ctprof_stream_take(struct ctprof_stream *stream, char byte);

/*
 * Goes on to the next element of a list or an object: after the comma, if it is
 * not the first.  *ret_more is false after the closing bracket, which is taken.
 */
int ctprof_stream_next(struct ctprof_stream *stream, char close, bool first, bool *ret_more);

/*
 * Takes one whole value.  Numbers from 2^63 on come in quotes: the parser has no
 * unsigned ones of 64 bits.
 */
int ctprof_stream_value(struct ctprof_stream *stream, struct text *ret);

#endif
