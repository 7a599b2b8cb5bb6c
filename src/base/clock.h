/* SPDX-License-Identifier: MIT */
/*
 * Reads the kernel's clocks in nanoseconds.  Deadlines and events use CLOCK_MONOTONIC, start times
 * of tasks use CLOCK_BOOTTIME.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_SECOND UINT64_C(1000000000)

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

/* How long this host was suspended since it booted. */
static inline uint64_t suspended_ns(void)
{
	uint64_t boottime = clock_ns(CLOCK_BOOTTIME), monotonic = monotonic_ns();

	return boottime > monotonic ? boottime - monotonic : 0;
}

static inline uint64_t timeval_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * 1000;
}

static inline struct timespec timespec_of_ns(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_SECOND),
				  .tv_nsec = (long)(ns % NS_PER_SECOND) };
}

#endif
