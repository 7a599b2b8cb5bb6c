/* SPDX-License-Identifier: MIT */
/*
 * When the next sample is due.
 *
 * Samples fall on absolute deadlines.  They are close together in the first second and while
 * things change, and further apart step by step while nothing does; never so close that taking
 * them costs more than a part of a core (SAMPLER_BUDGET).  Pure: it is told what time it is.
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
	uint64_t cost_ns; /* of a sample, lately */
	uint64_t missed;  /* deadlines that were left out */
};

/* With 0 as the shortest interval it is SAMPLER_SHORTEST_NS. */
void sampler_begin(struct sampler *sampler, uint64_t shortest_ns, uint64_t now_ns);

/* A sample was taken for this deadline: what it cost, and whether it told of a change. */
void sampler_taken(struct sampler *sampler, uint64_t now_ns, uint64_t cost_ns, bool changed);

#endif
