/* SPDX-License-Identifier: MIT */
/*
 * This room says when a recorder looks (schedule.h), and how much of it there may be (here).
 *
 * Keeps a recorder within its budget: CPU time for each tick, by the number of threads, and memory.
 * What costs more is left out step by step, the least important first, and taken in again when the
 * rest has been cheap for long.  Pure: the caller passes the figures.
 */
#ifndef RECORD_BUDGET_H
#define RECORD_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0.5 % of a core at 5 s with 2,000 threads, which is also what fewer threads may cost. */
#define BUDGET_TICK_NS UINT64_C(25000000)
#define BUDGET_TICK_THREADS 2000
/* Each second: 0.5 % of a core with up to 2,500 threads, 2 % with 10,000. */
#define BUDGET_ACTIVITY_NS UINT64_C(5000000)
#define BUDGET_ACTIVITY_THREAD_NS UINT64_C(2000)
#define BUDGET_USER_THREADS 64
#define BUDGET_RSS_BYTES (UINT64_C(64) << 20)

/* What is left out, in this order; each includes those before it. */
enum budget_shed {
	SHED_NOTHING,
	SHED_USERS,    /* active threads of a user beyond BUDGET_USER_THREADS, each second */
	SHED_ACTIVITY, /* what active threads do, each second */
	SHED_SYSCALLS, /* system calls of processes */
	SHED_HEAPS,    /* heap counters of threads */
	SHED_SCOPES,   /* what programs say about themselves */
	SHED_CGROUPS,  /* files of cgroups */
	SHED_BURSTS,   /* samples out of turn, of processes with an anomaly */
	SHED_THREADS,  /* rows of threads: the sums of their processes stay */
	SHED_TICKS,    /* every second tick */
	SHED_COUNT,
};

struct budget {
	enum budget_shed shed, most;
	uint64_t cost_ns;     /* recent cost of a tick, smoothed */
	unsigned cheap_ticks; /* in a row, far below the budget */
	unsigned patience;    /* how many of these it takes to take something in again */
};

void budget_begin(struct budget *budget);
/* One for activity alone, each second; the other one may switch it off as well. */
void budget_begin_activity(struct budget *budget);

/* Call it after each tick.  True when `shed` changed. */
bool budget_spent(struct budget *budget, uint64_t cost_ns, uint64_t threads, bool has_rss,
		  uint64_t rss_bytes);

/* The same for activity: call it each second, also while it is left out, with a cost of 0. */
bool budget_spent_activity(struct budget *budget, uint64_t cost_ns, uint64_t threads);

/* For people and the store; NULL for SHED_NOTHING. */
const char *budget_words(enum budget_shed shed);

#endif
