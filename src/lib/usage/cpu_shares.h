/* SPDX-License-Identifier: MIT */
/*
 * Samples CPU time by label.  It is not measured exactly, because reading a thread's clock is a
 * system call, which scopes must not make.
 *
 * At each tick, a scope that was open during the whole tick gets all the CPU time that its thread
 * used in it; that is exact.  For a younger scope, nobody knows what the thread did before the
 * scope opened.  So the heartbeat measures for a short moment how much CPU time the thread uses
 * now, and gives the scope that share of the tick.  A label whose scopes are open a tenth of the
 * time is met at a tenth of the ticks: the average is right, but a few samples are only a hint.
 * On a busy machine the moment may become long; then it counts only for scopes that were open
 * until its end, since other scopes may have used the rest of it.  The length of ticks varies, so
 * that they do not run in step with the work.
 */
#ifndef LIB_CPU_SHARES_H
#define LIB_CPU_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/heartbeat/stacks.h"

/* What one thread did in this tick. */
struct cpu_share {
	bool is_wanted;		/* it ran, and has scopes */
	uint64_t ran_ns;	/* since the previous tick */
	uint64_t at_ns, cpu_ns; /* when its clock was read, and what it showed */
	bool was_long;		/* the moment since then was long */
};

struct cpu_shares {
	uint64_t random;
	struct cpu_share threads[SCOPE_THREADS]; /* by slot */
	uint64_t copied_ticks;			 /* when the previous tick was */
};

/* How long the next tick should be, unless something else needs a shorter one. */
uint64_t cpu_shares_tick_ns(struct cpu_shares *shares, uint32_t threads);

/* Notes that a thread ran for `ran_ns` since the previous tick; its clock shows `cpu_ns` now. */
void cpu_shares_note(struct cpu_shares *shares, const struct stack *thread, uint64_t ran_ns,
		     uint64_t cpu_ns);
/*
 * Gives the noted CPU time of a tick of `tick_ns` to the labels.  Waits a moment if there are
 * young scopes.
 */
void cpu_shares_give(struct cpu_shares *shares, const struct stacks *stacks, uint64_t tick_ns);

#endif
