/* SPDX-License-Identifier: MIT */
/* Arithmetic for counters that never fall: a sum too large for 64 bits stays at UINT64_MAX. */
#ifndef MODEL_COUNTER_H
#define MODEL_COUNTER_H

#include <stdint.h>

static inline void counter_add(uint64_t *sum, uint64_t part)
{
	if (__builtin_add_overflow(*sum, part, sum))
		*sum = UINT64_MAX;
}

/* Raises the counter to `later` if that is higher.  Returns by how much it rose. */
static inline uint64_t counter_raise(uint64_t *counter, uint64_t later)
{
	uint64_t before = *counter;

	if (later <= before)
		return 0;
	*counter = later;
	return later - before;
}

#endif
