/* SPDX-License-Identifier: MIT */
/*
 * The .ctprof.zst file of ktstr: one snapshot as JSON, compressed by zstd.
 * docs/ctprof.md has its fields, what each becomes here, and what gets lost.
 *
 * That format writes 0 for what could not be measured.  So writing folds absent
 * values into its defaults, and reading takes a default for measured only where
 * the file itself proves that; all others are absent, with the reason.
 *
 * Reading trusts nothing.  The file is unpacked and parsed piece by piece, so
 * that memory holds one thread's JSON besides the snapshot, and the size of the
 * file bounds what it may unfold to.
 */
#ifndef STORE_CTPROF_H
#define STORE_CTPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct snapshot;

/* Whether bytes begin as compressed files do; what is in them is not looked at. */
bool ctprof_is_likely(const void *bytes, size_t size);

/*
 * The snapshot is one that snapshot_finish() has put in order.  Returns 0 and
 * bytes that the caller frees, or -ENOMEM or -EFBIG with a sentence in `error`.
 */
int ctprof_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		  struct error *error);

/*
 * Returns 0 and a snapshot the caller frees, or a negative errno with a sentence
 * in `error` that begins with `name`: -EBADMSG for what is damaged or something
 * else, -EFBIG for what unfolds to more than its size may, -ENOMEM.
 */
int ctprof_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		  struct error *error);

/* The same for JSON that is not compressed. */
int ctprof_decode_json(const char *name, const char *json, size_t size, struct snapshot **ret,
		       struct error *error);

/* How many bytes of JSON a file of that size may hold; a cell of the snapshot counts as 16. */
uint64_t ctprof_limit(uint64_t file_size);
#define CTPROF_BYTES_PER_CELL 16

#endif
