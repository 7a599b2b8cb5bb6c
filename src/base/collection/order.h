/* SPDX-License-Identifier: MIT */
/*
 * Orders of numbers, for qsort() and bsearch(): negative, 0 or positive.
 */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stdint.h>

static inline int compare_numbers(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

/* For items that are uint64_t, or int32_t, or begin with one. */
static inline int compare_u64(const void *one, const void *other)
{
	return compare_numbers(*(const uint64_t *)one, *(const uint64_t *)other);
}

static inline int compare_i32(const void *one, const void *other)
{
	int32_t first = *(const int32_t *)one, second = *(const int32_t *)other;

	return (first > second) - (first < second);
}

#endif
