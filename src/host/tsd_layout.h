/*
 * Where jemalloc keeps the two counters of a thread.
 */
#ifndef HOST_TSD_LAYOUT_H
#define HOST_TSD_LAYOUT_H

#include <stdint.h>

/* Offsets in bytes; who fills it says from where they count. */
struct tsd_layout {
	uint64_t allocated, deallocated;
};

#endif
