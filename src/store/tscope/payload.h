/* SPDX-License-Identifier: MIT */
/*
 * The payload of a .tscope file by itself: named blocks (layout.h), not compressed.  A recording
 * keeps the differences between the payloads of one tick and the next (store/change).
 */
#ifndef STORE_PAYLOAD_H
#define STORE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "store/tscope/bytes.h"

struct dictionary;
struct error;
struct snapshot;

/*
 * Replaces the content of *ret by the snapshot's payload.  Texts get numbers from `texts`, which
 * grows: with the same dictionary a text has the same number in each payload.  All texts of the
 * dictionary are in the payload.  *ret_cells is what reading it costs besides its bytes.  0,
 * -EINVAL for rows that are not in order, or -ENOMEM.
 */
int payload_encode(const struct snapshot *snapshot, struct dictionary *texts, struct bytes *ret,
		   uint64_t *ret_cells);

/* Makes a file of it, which the caller frees.  0, -ENOMEM, or -EFBIG when no file can hold it. */
int payload_seal(const struct bytes *payload, uint64_t cells, struct bytes *ret);

/*
 * Replaces the content of *ret by the payload in a file.  Its checksum is right, but what is in it
 * is not checked yet.  0, or a negative errno with a sentence that begins with `name`.
 */
int payload_unseal(const char *name, const void *bytes, size_t size, struct bytes *ret,
		   struct error *error);

/* Makes a snapshot of it, at the cost that a file of `size` bytes may have.  Errors likewise. */
int payload_decode(const char *name, const struct bytes *payload, size_t size,
		   struct snapshot **ret, struct error *error);

#endif
