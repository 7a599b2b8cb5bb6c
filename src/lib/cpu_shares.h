/* SPDX-License-Identifier: MIT */
/*
 * CPU time by label: sampled, since reading a thread's clock is a system call that scopes do without.
 *
 * At each tick, a scope that was open through all of it gets what its thread ran, which is exact.  Of
 * one that is younger it is not known what the thread did before it; but whether it burns right now
 * can be seen in a short moment, and that share of the tick is what such a scope gets.  One that
 * is open for a tenth of the time is met at a tenth of the ticks: in the mean that is right, and
 * of few samples not more than a hint.  A moment that became long, on a busy machine, counts only for
 * scopes that outlasted it: others may have burnt the rest of it.  Ticks vary, so that they do not march
 * in step with the work.
 */
#ifndef LIB_CPU_SHARES_H
#define LIB_CPU_SHARES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/look.h"

/* Of a thread in this tick. */
struct cpu_share {
	bool is_wanted;		/* it ran, and has scopes */
	uint64_t ran_ns;	/* since the tick before */
	uint64_t at_ns, cpu_ns; /* its clock was read then */
	bool was_long;		/* the moment since */
};

struct cpu_shares {
	uint64_t random;
	struct cpu_share *threads; /* for each slot */
	uint64_t looked_ticks;	   /* when the tick before was */
};

/* 0 or -ENOMEM. */
int cpu_shares_init(struct cpu_shares *shares);
void cpu_shares_clear(struct cpu_shares *shares);

/* How long the next tick should be, if nobody needs a shorter one. */
uint64_t cpu_shares_tick_ns(struct cpu_shares *shares, uint32_t threads);

/* A thread that ran for so long since the tick before; its clock shows `cpu_ns` now. */
void cpu_shares_note(struct cpu_shares *shares, const struct look_thread *thread, uint64_t ran_ns,
		     uint64_t cpu_ns);
/* Gives it to the labels.  Takes a moment if there are young scopes.  The tick counts so much. */
void cpu_shares_give(struct cpu_shares *shares, const struct look *look, uint64_t tick_ns);

#endif
