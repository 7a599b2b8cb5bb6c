/* SPDX-License-Identifier: MIT */
/*
 * Decides when the next sample is due.
 *
 * Samples have absolute deadlines.  They are close together in the first second and while things
 * change; while nothing changes, the distance grows step by step.  They are never so close that
 * they cost more than their share of a core (SAMPLER_BUDGET).  Pure: the caller passes the time.
 */
#ifndef SESSION_SAMPLER_H
#define SESSION_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#define SAMPLER_SHORTEST_NS UINT64_C(100000000)
#define SAMPLER_BUDGET 200 /* a sample may cost one part in this many of the time to the next */

struct sampler {
	uint64_t shortest_ns;
	uint64_t begin_ns;
	uint64_t interval_ns;
	uint64_t next_ns; /* the deadline */
	uint64_t cost_ns; /* recent cost of a sample */
	uint64_t missed;  /* deadlines that were skipped */
};

/* A shortest interval of 0 means SAMPLER_SHORTEST_NS. */
void sampler_begin(struct sampler *sampler, uint64_t shortest_ns, uint64_t now_ns);

/* Call it after each sample, with its cost and whether it showed a change. */
void sampler_taken(struct sampler *sampler, uint64_t now_ns, uint64_t cost_ns, bool changed);

#endif
