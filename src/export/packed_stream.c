/* SPDX-License-Identifier: MIT */
#include "export/packed_stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#define GZIP_BLOCK ((size_t)32 * 1024)
#define GZIP_WINDOW (15 + 16) /* the largest window; 16 asks for the header of gzip */
#define GZIP_MEMORY 8

struct gzip {
	FILE *out;
	z_stream stream;
	unsigned char block[GZIP_BLOCK];
};

/*
 * Passes on all that zlib has, so that its input is used up.  0, or -1; errno then is that of the
 * stream below.
 */
static int gzip_pump(struct gzip *gzip, int flush)
{
	size_t made;
	int status;

	do {
		gzip->stream.next_out = gzip->block;
		gzip->stream.avail_out = GZIP_BLOCK;
		status = deflate(&gzip->stream, flush);
		made = GZIP_BLOCK - gzip->stream.avail_out;
		if (status == Z_STREAM_ERROR || fwrite(gzip->block, 1, made, gzip->out) != made)
			return -1;
	} while (gzip->stream.avail_out == 0);
	return 0;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t size)
{
	struct gzip *gzip = cookie;
	size_t taken = size < UINT32_MAX ? size : UINT32_MAX;

	gzip->stream.next_in = (Bytef *)bytes;
	gzip->stream.avail_in = (uInt)taken;
	return gzip_pump(gzip, Z_NO_FLUSH) < 0 ? 0 : (ssize_t)taken; /* 0 is an error here */
}

static int gzip_close(void *cookie)
{
	struct gzip *gzip = cookie;
	int status = gzip_pump(gzip, Z_FINISH);

	deflateEnd(&gzip->stream);
	free(gzip);
	return status;
}

FILE *gzip_stream(FILE *out)
{
	cookie_io_functions_t functions = { .write = gzip_write, .close = gzip_close };
	struct gzip *gzip = out ? calloc(1, sizeof(*gzip)) : NULL;
	FILE *stream = NULL;

	if (!gzip)
		return NULL;
	gzip->out = out;
	if (deflateInit2(&gzip->stream, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) == Z_OK) {
		stream = fopencookie(gzip, "w", functions);
		if (!stream)
			deflateEnd(&gzip->stream);
	}
	if (!stream)
		free(gzip);
	return stream;
}
