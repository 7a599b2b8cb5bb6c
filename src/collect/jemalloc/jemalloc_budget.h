/* SPDX-License-Identifier: MIT */
/*
 * The total time and memory that reading heap counters may take.  Files and memory of other users
 * can make us wait, and there may be any number of them.  What is not done when the budget is used
 * up is left out and reported.
 */
#ifndef COLLECT_JEMALLOC_BUDGET_H
#define COLLECT_JEMALLOC_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "host/host.h"

#define JEMALLOC_BUDGET_MS 1000 /* for finding jemalloc, and where it keeps its counters */

/* All zeros is a budget without an end. */
struct time_budget {
	uint64_t end_ms; /* CLOCK_MONOTONIC */
};

static inline uint64_t time_budget_now_ms(void)
{
	return monotonic_ns() / NS_PER_MS;
}

static inline struct time_budget time_budget_start(uint64_t ms)
{
	return (struct time_budget){ time_budget_now_ms() + ms };
}

/* What is left of the budget, at most `most` ms; 0 when time is up. */
static inline unsigned time_budget_allow(struct time_budget budget, unsigned most)
{
	uint64_t now = time_budget_now_ms();

	if (!budget.end_ms || now + most <= budget.end_ms)
		return most;
	return now < budget.end_ms ? (unsigned)(budget.end_ms - now) : 0;
}

#define BUDGET_SHARE 3 /* one such wait may take 1/BUDGET_SHARE of what is left */

/*
 * The same for work that may wait for another user's process or file.  It gets only a share, so
 * that one that never answers leaves time for the others.
 */
static inline unsigned time_budget_share(struct time_budget budget, unsigned most)
{
	unsigned left = time_budget_allow(budget, UINT32_MAX / 2);
	unsigned share = left / BUDGET_SHARE + (left > 0);

	return share < most ? share : most;
}

static inline bool time_budget_is_over(struct time_budget budget)
{
	return time_budget_allow(budget, 1) == 0;
}

#define MEMORY_SHARE 8 /* a child may use 1/MEMORY_SHARE of the host's memory */
#define MEMORY_LEAST ((uint64_t)256 << 20)

static inline uint64_t memory_budget_own(const struct host *host)
{
	char line[128];
	const char *cursor = line;
	uint64_t pages;

	if (!host_read_line(host->proc, "self/statm", line, sizeof(line)) ||
	    !scan_u64(&cursor, &pages))
		return MEMORY_LEAST;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Bytes of address space for a child that needs at most `most`: what it inherits from us, which
 * costs nothing, plus its share of the host's memory.
 */
static inline uint64_t memory_budget(const struct host *host, uint64_t most)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	uint64_t part = pages * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE;

	if (part < MEMORY_LEAST)
		part = MEMORY_LEAST;
	if (part > most)
		part = most;
	return memory_budget_own(host) + part;
}

#endif
