/* SPDX-License-Identifier: MIT */
/*
 * Compresses and decompresses with zstd, piece by piece: what both kinds of
 * snapshot files are made of.
 */
#ifndef STORE_COMPRESSION_H
#define STORE_COMPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "store/tscope/bytes.h"

/*
 * How much the content of a file may be, so that a small file cannot fill the
 * memory: a minimum for any file, so much for each byte of it, and a maximum.
 */
struct size_limit {
	uint64_t floor, each, ceiling;
};

uint64_t size_limit(const struct size_limit *limit, uint64_t file_size);
/* The smallest file that may hold `amount`, which is not above the maximum. */
uint64_t size_limit_file(const struct size_limit *limit, uint64_t amount);

/* A failure is remembered: then file.failed is true, and further calls do nothing. */
struct compressor {
	ZSTD_CCtx *context;
	struct bytes file; /* what came out; the caller may put bytes before and after it */
	uint64_t taken;	   /* bytes that went in */
};

/* Call compressor_close() in any case. */
void compressor_open(struct compressor *compressor, bool with_checksum);
void compressor_put(struct compressor *compressor, const void *bytes, size_t size);
void compressor_finish(struct compressor *compressor); /* ends the frame */
void compressor_close(struct compressor *compressor);

struct decompressor {
	ZSTD_DCtx *context;
	ZSTD_inBuffer input;
	size_t frame_left;   /* 0 when a frame has ended */
	size_t frames;	     /* that have ended */
	const char *problem; /* why -EBADMSG */
};

/* The `size` bytes must stay in place.  0 or -ENOMEM; call decompressor_close() in any case. */
int decompressor_open(struct decompressor *decompressor, const void *bytes, size_t size,
		      int window_log_limit);
/*
 * Gives at least one byte, and none when all is read.  The sizes in the frames' headers are not
 * trusted: a caller counts.  Returns 0, -EBADMSG with a problem, or -ENOMEM.
 */
int decompressor_get(struct decompressor *decompressor, void *room, size_t size,
		     size_t *ret_length);
void decompressor_close(struct decompressor *decompressor);

#endif
