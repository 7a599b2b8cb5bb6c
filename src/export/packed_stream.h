/* SPDX-License-Identifier: MIT */
/*
 * A stream that packs what is written to it and passes it on to another stream.  fclose() writes what is left and
 * says whether all was written; the other stream stays open.
 *
 *	FILE *letters = base64_stream(out);
 *	FILE *packed = gzip_stream(letters);
 */
#ifndef EXPORT_PACKED_STREAM_H
#define EXPORT_PACKED_STREAM_H

#include <stdio.h>

/* Returns NULL when there is no memory. */
FILE *gzip_stream(FILE *out);

#endif
