/* SPDX-License-Identifier: MIT */
#include "record/pace/budget.h"

#define SMOOTHING 4		/* one part in so many is new */
#define OUTLIER 2		/* a tick counts at most as so many times the budget */
#define PATIENCE 60		/* cheap ticks before something is taken in again */
#define PATIENCE_MOST (64 * 60) /* it doubles each time that this was a mistake */
#define CHEAP 2			/* below one part in so many of the budget */

#define WORDS_SYSCALLS "activity, system calls"
#define WORDS_CGROUPS WORDS_SYSCALLS ", heap counters, scopes, files of cgroups"
#define WORDS_BURSTS WORDS_CGROUPS ", samples out of turn"
#define WORDS_THREADS WORDS_BURSTS ", rows of threads"

static const char *const words[SHED_COUNT] = {
	[SHED_USERS] = "activity of users beyond 64 threads",
	[SHED_ACTIVITY] = "activity",
	[SHED_SYSCALLS] = WORDS_SYSCALLS,
	[SHED_HEAPS] = WORDS_SYSCALLS ", heap counters",
	[SHED_SCOPES] = WORDS_SYSCALLS ", heap counters, scopes",
	[SHED_CGROUPS] = WORDS_CGROUPS,
	[SHED_BURSTS] = WORDS_BURSTS,
	[SHED_THREADS] = WORDS_THREADS,
	[SHED_TICKS] = WORDS_THREADS ", every second tick",
};

const char *budget_words(enum budget_shed shed)
{
	return words[shed];
}

void budget_begin(struct budget *budget)
{
	*budget = (struct budget){ .patience = PATIENCE, .most = SHED_COUNT - 1 };
}

void budget_begin_activity(struct budget *budget)
{
	*budget = (struct budget){ .patience = PATIENCE, .most = SHED_ACTIVITY };
}

static uint64_t allowed_ns(uint64_t threads)
{
	return threads <= BUDGET_TICK_THREADS ? BUDGET_TICK_NS :
						BUDGET_TICK_NS / BUDGET_TICK_THREADS * threads;
}

static bool shed_more(struct budget *budget)
{
	/* What was taken in again a moment ago was too much: wait longer next time. */
	if (budget->cheap_ticks < PATIENCE && budget->patience < PATIENCE_MOST)
		budget->patience *= 2;
	budget->cheap_ticks = 0;
	budget->cost_ns = 0;
	if (budget->shed == budget->most)
		return false;
	budget->shed++;
	return true;
}

static bool shed_less(struct budget *budget)
{
	budget->cheap_ticks = 0;
	if (budget->shed == SHED_NOTHING)
		return false;
	budget->shed--;
	return true;
}

static bool spent(struct budget *budget, uint64_t cost_ns, uint64_t allowed, bool is_large,
		  bool is_small)
{
	/* Some costs come once, like loading a program: one tick alone is no reason. */
	if (cost_ns > OUTLIER * allowed)
		cost_ns = OUTLIER * allowed;
	budget->cost_ns = budget->cost_ns - budget->cost_ns / SMOOTHING + cost_ns / SMOOTHING;
	if (budget->cost_ns > allowed || is_large)
		return shed_more(budget);
	if (budget->cost_ns > allowed / CHEAP || !is_small) {
		budget->cheap_ticks = 0;
		return false;
	}
	return ++budget->cheap_ticks >= budget->patience && shed_less(budget);
}

bool budget_spent(struct budget *budget, uint64_t cost_ns, uint64_t threads, bool has_rss,
		  uint64_t rss_bytes)
{
	return spent(budget, cost_ns, allowed_ns(threads), has_rss && rss_bytes > BUDGET_RSS_BYTES,
		     !has_rss || rss_bytes < BUDGET_RSS_BYTES / 4 * 3);
}

bool budget_spent_activity(struct budget *budget, uint64_t cost_ns, uint64_t threads)
{
	uint64_t allowed = threads * BUDGET_ACTIVITY_THREAD_NS;

	return spent(budget, cost_ns, allowed > BUDGET_ACTIVITY_NS ? allowed : BUDGET_ACTIVITY_NS,
		     false, true);
}
