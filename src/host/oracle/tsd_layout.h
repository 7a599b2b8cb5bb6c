/* SPDX-License-Identifier: MIT */
/*
 * Where jemalloc keeps the two counters of a thread.
 *
 * The offsets are added, modulo 2^64, to a start that depends on how they were found: the start of
 * a library's TLS block, the thread pointer, or the start of jemalloc's own per-thread structure.
 */
#ifndef HOST_TSD_LAYOUT_H
#define HOST_TSD_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define TSD_LAYOUT_REACH ((uint64_t)16 << 20) /* bytes; no TLS block in use comes near it */

struct tsd_layout {
	uint64_t allocated;
	uint64_t deallocated;
};

static inline bool tsd_offset_is_plausible(uint64_t offset)
{
	return offset % 8 == 0 && offset + TSD_LAYOUT_REACH < 2 * TSD_LAYOUT_REACH;
}

/* Whether two 64-bit counters can be there: aligned, not the same, near the start. */
static inline bool tsd_layout_is_plausible(const struct tsd_layout *layout)
{
	return tsd_offset_is_plausible(layout->allocated) &&
	       tsd_offset_is_plausible(layout->deallocated) &&
	       layout->allocated != layout->deallocated;
}

#endif
