/* SPDX-License-Identifier: MIT */
/*
 * A stream into memory whose end tells the truth.
 *
 * open_memstream() of glibc does not: when memory runs out for the last byte, or in the middle of
 * what is printed, fclose() succeeds all the same and the text is gone, or has a gap.
 */
#ifndef BASE_MEMORY_STREAM_H
#define BASE_MEMORY_STREAM_H

#include <stddef.h>
#include <stdio.h>

/*
 * Returns NULL when memory ran out.  fclose() leaves what was printed in `*bytes`, NUL-terminated and
 * the caller's to free; it fails, and leaves NULL, if any of it is missing.
 */
FILE *memory_stream_open(char **bytes, size_t *length);
/* What is longer than `most` bytes is as if memory had run out for it. */
FILE *memory_stream_open_limited(char **bytes, size_t *length, size_t most);

/* Closes it.  Returns the first line of what was printed, the caller's to free; NULL if any of it is missing. */
char *memory_stream_line(FILE *out, char **bytes);

#endif
