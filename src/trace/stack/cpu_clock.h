/* SPDX-License-Identifier: MIT */
/* The clocks that interrupt each CPU at equal intervals and run a BPF program then. */
#ifndef TRACE_CPU_CLOCK_H
#define TRACE_CPU_CLOCK_H

#include <stdint.h>

#include "base/collection/array.h"

/* Empty when all zeros. */
struct cpu_clocks {
	ARRAY_OF(int) fds;
};

/* The period of a frequency in nanoseconds. */
uint64_t cpu_clock_period_ns(uint32_t frequency_hz);

/* Starts a clock on each CPU that is online.  0 or a negative errno. */
int cpu_clocks_start(struct cpu_clocks *clocks, int program_fd, uint32_t frequency_hz);
void cpu_clocks_stop(struct cpu_clocks *clocks);

#endif
