/* SPDX-License-Identifier: MIT */
/*
 * Bytes as letters, in base64.
 */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <stdio.h>

/*
 * A stream that writes to `out` in base64; NULL when there is no memory.  fclose() writes what is
 * left and says whether all was written; `out` stays open.
 */
FILE *base64_stream(FILE *out);

/* The bytes that the letters stand for, to be freed.  0, -EBADMSG for other letters, or -ENOMEM. */
int base64_decode(const char *text, size_t length, void **ret, size_t *ret_size);

#endif
