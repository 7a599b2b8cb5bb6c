/* SPDX-License-Identifier: MIT */
/*
 * The clock of scopes: a CPU counter that is read without a system call, where it runs evenly on
 * all CPUs; else CLOCK_MONOTONIC.
 */
#ifndef LIB_TICKS_H
#define LIB_TICKS_H

#include <stdint.h>
#include <time.h>

#include "base/scope_layout.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern enum scope_clock ticks_clock; /* chosen before the first scope */

void ticks_choose(void);

static inline uint64_t ticks_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t ticks_monotonic_ns(void)
{
	return ticks_clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(ticks_clock == SCOPE_CLOCK_TSC, 1))
		return __rdtsc();
#elif defined(__aarch64__)
	if (__builtin_expect(ticks_clock == SCOPE_CLOCK_CNTVCT, 1)) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	return ticks_monotonic_ns();
}

#endif
