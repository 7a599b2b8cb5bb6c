/* SPDX-License-Identifier: MIT */
/*
 * Streams that change what is written to them and pass it on to another stream.  fclose() writes what is left and
 * says whether all was written; the other stream stays open.
 *
 *	FILE *letters = base64_stream(out);
 *	FILE *packed = gzip_stream(letters);
 */
#ifndef EXPORT_PACKED_STREAM_H
#define EXPORT_PACKED_STREAM_H

#include <stdio.h>

/* Both return NULL when there is no memory. */
FILE *gzip_stream(FILE *out);
FILE *base64_stream(FILE *out);

#endif
