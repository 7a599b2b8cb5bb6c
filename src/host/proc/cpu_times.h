/* SPDX-License-Identifier: MIT */
/*
 * What the CPUs of a host did since its boot, from proc/stat: how long each had something to do,
 * and how long a hypervisor kept it from doing that ("steal").
 */
#ifndef HOST_CPU_TIMES_H
#define HOST_CPU_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"

struct host;

/* In ticks. */
struct cpu_time {
	uint64_t cpu; /* its number */
	uint64_t busy, stolen;
};

struct cpu_times {
	ARRAY_OF(struct cpu_time) list;
};

void cpu_times_clear(struct cpu_times *times);

/* Parses the text of the file; lines that are not understood are left out.  0 or -ENOMEM. */
int cpu_times_parse(const char *text, struct cpu_times *ret);

/* Reads the file.  0 or a negative errno. */
int cpu_times_read(const struct host *host, struct cpu_times *ret);

/*
 * Adds up by how much the times of all CPUs grew that are in both.  A time that fell, as after a
 * virtual machine moved, grew by nothing.  False when the kernel has never counted any stolen time:
 * nobody knows whether it can.
 */
bool cpu_times_between(const struct cpu_times *begin, const struct cpu_times *end,
		       struct cpu_time *ret);

#endif
