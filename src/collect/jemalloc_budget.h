/*
 * The time that heap counters may take in all.  Files, memory and code of strangers can
 * each make us wait up to a deadline of their own, and there may be any number
 * of them: what is not done at the end of the budget is left and told as such.
 */
#ifndef COLLECT_JEMALLOC_BUDGET_H
#define COLLECT_JEMALLOC_BUDGET_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All zeros is without an end. */
struct time_budget {
	uint64_t end_ms; /* CLOCK_MONOTONIC */
};

static inline uint64_t time_budget_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static inline struct time_budget time_budget_start(uint64_t ms)
{
	return (struct time_budget){ time_budget_now_ms() + ms };
}

/* The same, but some time is left for what comes later. */
static inline struct time_budget time_budget_less(struct time_budget budget, uint64_t ms)
{
	return (struct time_budget){ budget.end_ms > ms ? budget.end_ms - ms : budget.end_ms };
}

/* How long something may take that would take `most` ms at worst; 0 when time is up. */
static inline unsigned time_budget_allow(struct time_budget budget, unsigned most)
{
	uint64_t now = time_budget_now_ms();

	if (!budget.end_ms || now + most <= budget.end_ms)
		return most;
	return now < budget.end_ms ? (unsigned)(budget.end_ms - now) : 0;
}

static inline bool time_budget_is_over(struct time_budget budget)
{
	return time_budget_allow(budget, 1) == 0;
}

#endif
