/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/stall.h"

#include <string.h>

enum {
	MILLISECOND_NS = 1000000,
	/* The kernel counts throttled time only when it ends: at most one quota period later. */
	THROTTLE_HOLD_NS = 200 * MILLISECOND_NS,
};

static bool counter_moved(struct stall_counter *counter, const struct scope_frame *frame)
{
	if (counter->generation == frame->generation && counter->count == frame->count &&
	    counter->total == frame->total)
		return false;
	*counter = (struct stall_counter){ .generation = frame->generation,
					   .count = frame->count,
					   .total = frame->total,
					   .has_moved = true };
	return true;
}

bool stall_moved(struct stall *stall, const struct stack *thread)
{
	bool moved = thread->is_changing || stall->sequence != thread->sequence;

	if (stall->tid != thread->tid) {
		memset(stall, 0, sizeof(*stall));
		stall->tid = thread->tid;
		moved = true;
	}
	stall->sequence = thread->sequence;
	for (uint32_t i = 0; i < thread->depth; i++)
		moved |= counter_moved(&stall->counters[i], &thread->frames[i]);
	stall->has_moved = moved;
	return moved;
}

static bool has_own_counter(const struct scope_frame *frame)
{
	return frame->flags & SCOPE_HAS_PROGRESS && frame->limit_ms &&
	       frame->limit_ms != SCOPE_NO_LIMIT;
}

static uint64_t limit_ns(const struct scope_frame *frame, bool is_innermost, uint32_t default_ms)
{
	uint32_t limit_ms = frame->limit_ms;

	if (!limit_ms)
		limit_ms = is_innermost ? default_ms : SCOPE_NO_LIMIT;
	return limit_ms == SCOPE_NO_LIMIT ? UINT64_MAX : (uint64_t)limit_ms * MILLISECOND_NS;
}

bool stall_can_begin(const struct stall *stall, const struct stack *thread,
		     uint32_t default_limit_ms)
{
	if (stall->is_stalled || thread->is_idle)
		return false;
	for (uint32_t i = thread->depth; i > 0; i--)
		if (limit_ns(&thread->frames[i - 1], i == thread->depth, default_limit_ms) !=
		    UINT64_MAX)
			return true;
	return false;
}

static uint64_t still_ns(const struct stall *stall, const struct scope_frame *frame, uint32_t i)
{
	return has_own_counter(frame) ? stall->counters[i].still_ns : stall->still_ns;
}

/* In a tick in which something moved, how much came after the move is not known: count nothing. */
static uint64_t time_after(uint64_t still, bool has_moved, uint64_t counted_ns)
{
	return has_moved ? 0 : still + counted_ns;
}

static void add_time(struct stall *stall, uint32_t depth, uint64_t counted_ns)
{
	stall->still_ns = time_after(stall->still_ns, stall->has_moved, counted_ns);
	for (uint32_t i = 0; i < depth; i++) {
		struct stall_counter *counter = &stall->counters[i];

		counter->still_ns = time_after(counter->still_ns, counter->has_moved, counted_ns);
		counter->has_moved = false;
	}
}

static void forget_time(struct stall *stall)
{
	stall->still_ns = 0;
	for (uint32_t i = 0; i < SCOPE_FRAMES; i++)
		stall->counters[i].still_ns = 0;
}

/* Whether the stalled scope is still open and still without progress. */
static bool still_stuck(const struct stall *stall, const struct stack *thread, uint64_t *ret_ns)
{
	const struct scope_frame *frame = &thread->frames[stall->frame];
	uint64_t still;

	if (stall->frame >= thread->depth || frame->generation != stall->generation)
		return false;
	still = still_ns(stall, frame, stall->frame);
	if (still < stall->stuck_ns)
		return false;
	*ret_ns = still;
	return true;
}

static enum stall_news begin(struct stall *stall, const struct stack *thread, uint32_t i,
			     uint64_t still)
{
	stall->is_stalled = true;
	stall->frame = i;
	stall->generation = thread->frames[i].generation;
	stall->stuck_ns = still;
	return STALL_BEGUN;
}

/* Reports the innermost scope that is over its limit. */
static enum stall_news find(struct stall *stall, const struct stack *thread, uint32_t default_ms)
{
	bool is_half = false;

	for (uint32_t i = thread->depth; i > 0; i--) {
		const struct scope_frame *frame = &thread->frames[i - 1];
		uint64_t limit = limit_ns(frame, i == thread->depth, default_ms);
		uint64_t still = still_ns(stall, frame, i - 1);

		if (still >= limit)
			return begin(stall, thread, i - 1, still);
		is_half |= still >= limit / 2;
	}
	if (!is_half)
		stall->has_first = false;
	return is_half && !stall->has_first ? STALL_HALF : STALL_QUIET;
}

enum stall_news stall_follow(struct stall *stall, const struct stack *thread, uint64_t counted_ns,
			     uint32_t default_limit_ms)
{
	if (thread->is_idle || !thread->depth)
		forget_time(stall);
	else
		add_time(stall, thread->depth, counted_ns);
	if (stall->is_stalled) {
		if (!thread->is_idle && still_stuck(stall, thread, &stall->stuck_ns))
			return STALL_QUIET;
		stall->is_stalled = false;
		stall->has_first = false;
		return STALL_RECOVERED;
	}
	if (thread->is_idle)
		return STALL_QUIET;
	return find(stall, thread, default_limit_ms);
}

static uint64_t grown(struct amount first, struct amount last)
{
	return first.is_known && last.is_known && last.value > first.value ?
		       last.value - first.value :
		       0;
}

enum scope_stall stall_judge(const struct stall_reading *first, const struct stall_reading *last)
{
	uint64_t window = last->at_ns > first->at_ns ? last->at_ns - first->at_ns : 0;
	uint64_t cpu = grown(first->cpu_ns, last->cpu_ns);
	uint64_t delay = grown(first->delay_ns, last->delay_ns);

	if (last->state == 'T' || last->state == 't')
		return SCOPE_STALL_STOPPED;
	if (window && cpu * 2 >= window)
		return SCOPE_STALL_BUSY;
	if (window && delay * 2 >= window)
		return SCOPE_STALL_STARVED;
	if (last->state == 'R')
		return window && cpu * 8 < window ? SCOPE_STALL_STARVED : SCOPE_STALL_BUSY;
	return SCOPE_STALL_WAITING;
}

static const char *const names[] = {
	[SCOPE_STALL_NONE] = "none",	   [SCOPE_STALL_BUSY] = "busy",
	[SCOPE_STALL_WAITING] = "waiting", [SCOPE_STALL_STARVED] = "starved",
	[SCOPE_STALL_STOPPED] = "stopped",
};

const char *stall_name(enum scope_stall stall)
{
	return names[stall];
}

uint64_t stall_counted_ns(struct stall_clock *clock, uint64_t passed_ns, uint64_t tick_ns,
			  uint64_t throttled_ns)
{
	if (passed_ns && throttled_ns * 4 >= passed_ns) {
		clock->hold_ns = THROTTLE_HOLD_NS;
		return 0;
	}
	if (clock->hold_ns) {
		clock->hold_ns -= passed_ns < clock->hold_ns ? passed_ns : clock->hold_ns;
		return 0;
	}
	return passed_ns > 2 * tick_ns ? tick_ns : passed_ns;
}
