/* SPDX-License-Identifier: MIT */
/*
 * The two clocks of tasks: events are of CLOCK_MONOTONIC, start times of CLOCK_BOOTTIME.
 */
#ifndef TRACE_CLOCKS_H
#define TRACE_CLOCKS_H

#include <stdint.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static inline uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The time that this host was suspended since it was booted. */
static inline uint64_t suspended_ns(void)
{
	uint64_t boottime = clock_ns(CLOCK_BOOTTIME), monotonic = monotonic_ns();

	return boottime > monotonic ? boottime - monotonic : 0;
}

#endif
