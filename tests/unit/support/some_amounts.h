/* SPDX-License-Identifier: MIT */
/*
 * Amounts for tests.
 */
#ifndef TESTS_UNIT_SOME_AMOUNTS_H
#define TESTS_UNIT_SOME_AMOUNTS_H

#include "model/tree/amounts.h"

/* CPU time that the kernel charged, all of it in user mode. */
static inline void charge(struct amounts *amounts, uint64_t cpu_ns)
{
	amounts_set(amounts, AMOUNT_utime_ns, cpu_ns);
	amounts_set(amounts, AMOUNT_stime_ns, 0);
}

/* Where all the time went: on a CPU, and no wait so far; the rest is up to the test. */
static inline void set_times(struct amounts *amounts, uint64_t wall_ns, uint64_t run_ns)
{
	amounts_set(amounts, AMOUNT_wall_time_ns, wall_ns);
	amounts_set(amounts, AMOUNT_run_time_ns, run_ns);
	amounts_set(amounts, AMOUNT_wait_time_ns, 0);
	amounts_set(amounts, AMOUNT_wait_count, 0);
	amounts_set(amounts, AMOUNT_wait_max, 0);
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		amounts_set_waited(amounts, reason, (struct waited){ 0 });
}

static inline void set_offcpu(struct amounts *amounts, uint64_t count, uint64_t max_ns,
			      uint64_t min_ns)
{
	amounts_set(amounts, AMOUNT_offcpu_count, count);
	amounts_set(amounts, AMOUNT_offcpu_max_ns, max_ns);
	amounts_set(amounts, AMOUNT_offcpu_min_ns, min_ns);
}

#endif
