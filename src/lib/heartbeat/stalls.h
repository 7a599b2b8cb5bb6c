/* SPDX-License-Identifier: MIT */
/*
 * What the heartbeat does at each tick: it measures how long every thread made no progress, warns
 * of stalls, and adds the CPU time that threads used to the labels of their open scopes.
 */
#ifndef LIB_STALLS_H
#define LIB_STALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/heartbeat/stacks.h"
#include "lib/heartbeat/stall.h"
#include "lib/lines/output.h"
#include "lib/usage/cpu_shares.h"
#include "lib/usage/own_usage.h"
#include "lib/usage/throttle.h"

enum { STALL_LINES = 8 }; /* maximum of lines about stalls between two heartbeats */

struct stall_record {
	struct stall stall;
	int32_t cpu_tid; /* the thread that `cpu_ns` is of; 0: none */
	uint64_t cpu_ns;
	uint32_t tick; /* the last tick in which the thread was there */

	/*
	 * About the stall, for the line about its end: the scope, or even the thread, may be gone
	 * by then.
	 */
	uint64_t lead_ns; /* how long it had lasted when counting began */
	char name[THREAD_WORD_SIZE];
	char phase[SCOPE_LABEL_SIZE];
};

struct stalls {
	uint32_t stall_ms;   /* for scopes without their own limit; like the next, the caller's */
	bool has_statistics; /* CPU time is wanted */

	struct stall_record threads[SCOPE_THREADS]; /* by slot */
	struct cpu_shares shares;
	struct stall_clock clock;
	struct throttle throttle;
	bool has_groups;     /* searched for since the last heartbeat */
	bool has_waiting;    /* a thread made no progress in the previous tick */
	uint64_t counted_ns; /* of this tick */
	uint64_t total_ns;   /* of all ticks */
	uint32_t tick;
	uint32_t line_count, hidden_lines;
};

/* How long the next tick should be: shorter where CPU time is sampled. */
uint64_t stalls_tick_ns(struct stalls *stalls, const struct stacks *stacks, uint64_t longest_ns);
/* Does one tick, `passed_ns` after the last one, where a tick is meant to be `tick_ns`. */
void stalls_check(struct stalls *stalls, const struct stacks *stacks, uint64_t passed_ns,
		  uint64_t tick_ns, struct output *output);
/* At a heartbeat: reports how many lines were left out, and allows new ones. */
void stalls_allow_lines(struct stalls *stalls, struct output *output);

#endif
