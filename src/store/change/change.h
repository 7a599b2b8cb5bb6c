/* SPDX-License-Identifier: MIT */
/*
 * This room tells what changed from one payload of a snapshot (tscope/payload.h) to the next, and
 * makes the next one again, byte by byte.
 *
 * Blocks that are the same cost next to nothing.  In the others rows are joined by identity, so
 * that a process in the middle that ended moves nothing, and only cells that changed are told: the
 * rows that have them, their states, and by how much the numbers differ.  Differences wrap, so
 * every 64-bit number survives.  docs/file-format.md has the bytes.
 *
 * What changes say is not trusted when they are applied, and neither is the payload.
 */
#ifndef STORE_CHANGE_H
#define STORE_CHANGE_H

#include <stddef.h>
#include <stdint.h>

#include "store/tscope/bytes.h"

/* Replaces the content of *ret by what makes `now` of `base`.  0 or -ENOMEM. */
int change_find(const struct bytes *base, const struct bytes *now, struct bytes *ret);

/* What applying changes may cost. */
struct change_limits {
	uint64_t bytes; /* of the payload that results */
	uint64_t cells; /* in all its tables and columns, and in those of the base */
};

/*
 * Replaces the content of *ret by the payload that the changes make of `base`.  0, -ENOMEM, -EFBIG
 * beyond the limits, or -EBADMSG.
 */
int change_apply(const struct bytes *base, const void *changes, size_t size,
		 const struct change_limits *limits, struct bytes *ret);

#endif
