/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the .ctprof.zst file of ktstr: one snapshot as JSON,
 * compressed by zstd.  docs/ctprof.md lists its fields, what each becomes here,
 * and what gets lost.
 *
 * That format writes 0 for a value that could not be measured.  So the writer
 * turns absent values into the format's defaults.  The reader takes a default
 * as measured only where the file itself proves it; all other defaults are
 * absent, with the reason.
 *
 * The reader trusts nothing.  It unpacks and parses the file piece by piece, so
 * that memory holds one thread's JSON besides the snapshot, and the size of the
 * file bounds how large its content may be.
 */
#ifndef STORE_CTPROF_H
#define STORE_CTPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct size_limit;
struct snapshot;

/* Whether the bytes begin like a compressed file; the content is not checked. */
bool ctprof_is_likely(const void *bytes, size_t size);

/*
 * The snapshot must be in the order that snapshot_finish() makes.  Returns 0
 * and bytes that the caller frees, or -ENOMEM or -EFBIG with a sentence in
 * `error`.
 */
int ctprof_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		  struct error *error);

/*
 * Returns 0 and a snapshot the caller frees, or a negative errno with a
 * sentence in `error` that begins with `name`: -EBADMSG for a file that is
 * damaged or of another kind, -EFBIG for one whose content is larger than its
 * size allows, -ENOMEM.
 */
int ctprof_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		  struct error *error);

/* How many bytes of JSON a file may hold; a cell of the snapshot counts as 16. */
extern const struct size_limit ctprof_limit;
#define CTPROF_BYTES_PER_CELL 16

#endif
