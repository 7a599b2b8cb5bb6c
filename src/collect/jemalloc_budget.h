/* SPDX-License-Identifier: MIT */
/*
 * The time and memory that heap counters may take in all.  Files and memory of strangers can make us
 * wait, and there may be any number of them: what is not done at the end of the budget is left and
 * told as such.
 */
#ifndef COLLECT_JEMALLOC_BUDGET_H
#define COLLECT_JEMALLOC_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "host/host.h"

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

/* How long something may take that would take `most` ms at worst; 0 when time is up. */
static inline unsigned time_budget_allow(struct time_budget budget, unsigned most)
{
	uint64_t now = time_budget_now_ms();

	if (!budget.end_ms || now + most <= budget.end_ms)
		return most;
	return now < budget.end_ms ? (unsigned)(budget.end_ms - now) : 0;
}

#define BUDGET_SHARE 3 /* of what is left: one part in so many may be spent on waiting for one */

/* The same for what may wait for a stranger: who does not answer leaves time for the others. */
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

#define MEMORY_SHARE 8 /* of the host's, for all children at once: one part in so many */
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
 * Bytes of address space for a child that may need `most`, when `children` run at once:
 * what it has from us, which costs nothing, and its part of the host's memory.
 */
static inline uint64_t memory_budget(const struct host *host, uint64_t most, size_t children)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	uint64_t part = pages * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE / children;

	if (part < MEMORY_LEAST)
		part = MEMORY_LEAST;
	if (part > most)
		part = most;
	return memory_budget_own(host) + part;
}

#endif
