/* SPDX-License-Identifier: MIT */
/*
 * A duration in 32 bits: 27 bits of value and 5 of a shift.  Up to 134 ms it is exact to the
 * nanosecond, above that to one part in 67 million, rounded down.
 */
#ifndef MODEL_SPAN_H
#define MODEL_SPAN_H

#include <stdint.h>

typedef uint32_t span;

#define SPAN_BITS 27
#define SPAN_SHIFT_MAX 31

static inline span span_of(uint64_t ns)
{
	unsigned bits = ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;
	unsigned shift = bits > SPAN_BITS ? bits - SPAN_BITS : 0;

	if (shift > SPAN_SHIFT_MAX)
		return UINT32_MAX;
	return (span)(shift << SPAN_BITS | (uint32_t)(ns >> shift));
}

static inline uint64_t span_ns(span packed)
{
	return (uint64_t)(packed & ((1U << SPAN_BITS) - 1)) << (packed >> SPAN_BITS);
}

#endif
