/* SPDX-License-Identifier: MIT */
/*
 * Samples what the threads of a tree wait for, about 100 times a second and within a budget of a
 * hundredth of a CPU.
 *
 * When there are too many threads for that, samples are rarer, and each takes the next threads in
 * turn.  The time between two samples varies by a quarter: a program that
 * does something every 10 ms must not be found in the same state each time.
 */
#ifndef TRACE_STATE_SAMPLER_H
#define TRACE_STATE_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "model/wait/sampled_waits.h"

struct members;

struct state_sampler {
	uint64_t last_ns;      /* when the last sample was due; 0: never */
	uint64_t allowance_ns; /* CPU time that it may use now */
	uint64_t cost_ns;      /* of a thread, on average */
	size_t member, thread; /* who is next */
	size_t open;	       /* threads whose files are open */
	uint32_t random;
	uint64_t covered_ns; /* thread time that all samples stand for */
	struct wait_sampling taken;
};

/* Takes a sample and returns when the next one is due (CLOCK_MONOTONIC); UINT64_MAX: never. */
uint64_t state_sampler_take(struct members *members, uint64_t now_ns);

/* What was sampled so far. */
struct wait_sampling state_sampler_taken(const struct members *members);

#endif
