/* SPDX-License-Identifier: MIT */
#include "lib/usage/cpu_shares.h"

#include <time.h>

#include "lib/scope/block.h"
#include "lib/scope/locks.h"
#include "lib/scope/statistics.h"
#include "lib/scope/threads.h"
#include "lib/scope/ticks.h"
#include "lib/usage/own_usage.h"

enum {
	MOMENT_NS = 1000 * 1000,
	LONG_MOMENT_NS = 5 * MOMENT_NS,
	TICK_NS = 100 * MOMENT_NS,
	THREADS_AT_ONCE = 64, /* more threads are sampled less often: each costs two system calls */
};

/* Varies between three quarters and five quarters of the usual tick. */
uint64_t cpu_shares_tick_ns(struct cpu_shares *shares, uint32_t threads)
{
	uint64_t tick_ns = TICK_NS * (1 + (uint64_t)threads / THREADS_AT_ONCE);

	shares->random = shares->random * UINT64_C(6364136223846793005) + ticks_now();
	return tick_ns * 3 / 4 + (shares->random >> 33) % (tick_ns / 2);
}

void cpu_shares_note(struct cpu_shares *shares, const struct stack *thread, uint64_t ran_ns,
		     uint64_t cpu_ns)
{
	shares->threads[thread->slot] = (struct cpu_share){
		.is_wanted = ran_ns && thread->depth,
		.ran_ns = ran_ns,
		.at_ns = ticks_monotonic_ns(),
		.cpu_ns = cpu_ns,
	};
}

static bool is_young(const struct cpu_shares *shares, const struct scope_frame *frame)
{
	return frame->entered_ticks > shares->copied_ticks;
}

static bool has_young(const struct cpu_shares *shares, const struct stack *thread)
{
	return is_young(shares, &thread->frames[thread->depth - 1]);
}

static bool is_own(const struct scope_thread *block, const struct scope_statistic *statistic)
{
	return statistic >= block->statistics && statistic < block->statistics + SCOPE_STATISTICS;
}

/* A share is an estimate, but no label can use more than its thread, in a place of its own. */
static void add(const struct scope_thread *block, struct scope_statistic *statistic, uint64_t ns,
		uint64_t most_ns)
{
	uint64_t sum = LOAD(statistic->cpu_ns) + ns;

	if (sum > most_ns && is_own(block, statistic))
		sum = most_ns;
	STORE(statistic->cpu_ns, sum);
	STORE(statistic->cpu_samples, LOAD(statistic->cpu_samples) + 1);
}

/* The places that were given a share. */
struct given {
	const struct scope_statistic *list[SCOPE_FRAMES];
	uint32_t count;
};

static bool is_given(const struct given *given, const struct scope_statistic *statistic)
{
	for (uint32_t i = 0; i < given->count; i++)
		if (given->list[i] == statistic)
			return true;
	return false;
}

static bool is_open(const struct scope_thread *block, uint32_t index,
		    const struct scope_frame *frame)
{
	return index < LOAD(block->depth) &&
	       LOAD(block->frames[index].generation) == frame->generation;
}

/* Gives to every label on the stack once; its outermost scope counts. */
static void give(const struct cpu_shares *shares, const struct stack *thread, uint64_t young_ns)
{
	const struct cpu_share *share = &shares->threads[thread->slot];
	struct scope_thread *block = threads_lock_block(thread->slot, thread->tid);
	struct given given = { .count = 0 };

	if (!block)
		return;
	for (uint32_t i = 0; i < thread->depth; i++) {
		const struct scope_frame *frame = &thread->frames[i];
		struct scope_statistic *place = statistics_place(block, frame->label);

		if (is_given(&given, place))
			continue;
		if (is_young(shares, frame) && share->was_long && !is_open(block, i, frame))
			continue;
		given.list[given.count++] = place;
		add(block, place, is_young(shares, frame) ? young_ns : share->ran_ns,
		    share->cpu_ns);
	}
	lock_release(LOCK_THREADS);
}

/* What the thread uses right now, projected to a whole tick. */
static uint64_t burnt_ns(const struct cpu_share *share, pid_t tid, uint64_t tick_ns)
{
	struct amount now = thread_cpu_ns(tid);
	uint64_t window = ticks_monotonic_ns() - share->at_ns;

	if (!now.is_known || now.value <= share->cpu_ns || !window)
		return 0;
	return (uint64_t)((double)(now.value - share->cpu_ns) / (double)window * (double)tick_ns);
}

static bool needs_moment(const struct cpu_shares *shares, const struct stacks *stacks)
{
	for (uint32_t i = 0; i < stacks->thread_count; i++) {
		const struct stack *thread = &stacks->threads[i];

		if (shares->threads[thread->slot].is_wanted && has_young(shares, thread))
			return true;
	}
	return false;
}

void cpu_shares_give(struct cpu_shares *shares, const struct stacks *stacks, uint64_t tick_ns)
{
	const struct timespec moment = { .tv_nsec = MOMENT_NS };

	if (needs_moment(shares, stacks))
		nanosleep(&moment, NULL);
	for (uint32_t i = 0; i < stacks->thread_count; i++) {
		const struct stack *thread = &stacks->threads[i];
		struct cpu_share *share = &shares->threads[thread->slot];
		uint64_t young_ns = 0;

		if (!share->is_wanted)
			continue;
		if (has_young(shares, thread))
			young_ns = burnt_ns(share, thread->tid, tick_ns);
		share->was_long = ticks_monotonic_ns() - share->at_ns > LONG_MOMENT_NS;
		give(shares, thread, young_ns);
		share->is_wanted = false;
	}
	shares->copied_ticks = stacks->ticks;
}
