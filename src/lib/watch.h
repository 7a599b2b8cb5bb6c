/* SPDX-License-Identifier: MIT */
/*
 * What the heartbeat does at each tick: follows every thread's silence, warns of stalls, and gives
 * the CPU time that threads used to the labels of their open scopes.
 */
#ifndef LIB_WATCH_H
#define LIB_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/cpu_shares.h"
#include "lib/look.h"
#include "lib/output.h"
#include "lib/stall.h"
#include "lib/thread_usage.h"
#include "lib/throttle.h"

enum { WATCH_LINES = 8 }; /* about stalls, between two heartbeats */

struct watch_thread {
	struct stall_watch stall;
	int32_t cpu_tid; /* whose CPU time it was; 0: nobody's */
	uint64_t cpu_ns;
	uint32_t tick; /* when it was there last */

	/* Of the stall, to tell its end when the scope, or even the thread, is gone. */
	uint64_t lead_ns; /* it had begun so long before it was seen to */
	char name[THREAD_WORD_SIZE];
	char phase[SCOPE_LABEL_SIZE];
};

struct watch {
	uint32_t stall_ms;   /* of scopes without a limit of their own; by its maker, as the next */
	bool has_statistics; /* CPU time is wanted */

	struct watch_thread *threads; /* for each slot */
	struct cpu_shares shares;
	struct stall_clock clock;
	struct throttle throttle;
	bool has_groups;     /* they were looked for since the last heartbeat */
	bool has_waiting;    /* a thread was silent in the tick before */
	uint64_t counted_ns; /* of this tick */
	uint64_t total_ns;   /* of all ticks */
	uint32_t tick;
	uint32_t line_count, hidden_lines;
};

/* 0 or -ENOMEM. */
int watch_init(struct watch *watch);
void watch_clear(struct watch *watch);

/* How long the next tick is to be: shorter where CPU time is sampled. */
uint64_t watch_tick_ns(struct watch *watch, const struct look *look, uint64_t longest_ns);
/* `passed_ns` since the last one, where a tick is meant to be `tick_ns`. */
void watch_tick(struct watch *watch, const struct look *look, uint64_t passed_ns, uint64_t tick_ns,
		struct output *output);
/* A heartbeat: what was left out is told, and there may be lines again. */
void watch_beat(struct watch *watch, struct output *output);

#endif
