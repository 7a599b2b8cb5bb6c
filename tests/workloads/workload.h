/* SPDX-License-Identifier: MIT */
/*
 * What the workloads share.  Each is one way to spend time, and prints what a profiler must see.
 * The first argument is for how long, in milliseconds.
 */
#ifndef WORKLOADS_WORKLOAD_H
#define WORKLOADS_WORKLOAD_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_nsec;
}

/* When to stop. */
static inline uint64_t deadline_ns(int count, char **arguments)
{
	uint64_t milliseconds = count > 1 ? strtoull(arguments[1], NULL, 10) : 1500;

	return now_ns() + milliseconds * 1000000;
}

static inline void spin_until(uint64_t end_ns)
{
	while (now_ns() < end_ns)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static inline void sleep_ms(unsigned milliseconds)
{
	struct timespec time = { milliseconds / 1000, (long)(milliseconds % 1000) * 1000000 };

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static inline void *need(void *pointer)
{
	if (!pointer || pointer == (void *)-1) {
		perror("workload");
		exit(3);
	}
	return pointer;
}

static inline int need_fd(int fd)
{
	if (fd < 0) {
		perror("workload");
		exit(3);
	}
	return fd;
}

#endif
