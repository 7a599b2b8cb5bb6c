/* SPDX-License-Identifier: MIT */
/*
 * Decides when a scope is stalled, and why.  It reads no clock and no file: the caller passes in
 * the readings and the time.
 *
 * A thread makes progress when it opens or closes a scope, or when a counter of its open scopes
 * moves.  The time without progress is compared with the limit of its innermost scope, and with
 * the limits that scopes around it have of their own.  A scope with a counter and a limit of its
 * own is judged by that counter alone.  No time counts while the thread is idle.
 *
 * The time is added up tick by tick, so that a caller can leave out time in which nothing could
 * have happened.
 */
#ifndef LIB_STALL_H
#define LIB_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/heartbeat/stacks.h"
#include "lib/lines/line.h"

struct stall_counter {
	uint32_t generation;
	bool has_moved; /* in this tick */
	uint64_t count, total;
	uint64_t still_ns; /* since it moved last */
};

struct stall_reading {
	struct amount cpu_ns, delay_ns;
	uint64_t at_ns; /* in time that counts */
	char state;	/* 0: unknown */
};

struct stall {
	int32_t tid;
	uint32_t sequence;
	bool has_moved;	   /* in this tick */
	uint64_t still_ns; /* since the thread made progress */
	struct stall_counter counters[SCOPE_FRAMES];

	bool is_stalled;
	uint32_t frame, generation; /* which scope is stalled */
	uint64_t stuck_ns;	    /* for how long, while it is */

	bool has_first;
	struct stall_reading first; /* taken half-way to the limit */
};

enum stall_news {
	STALL_QUIET,	 /* nothing to report */
	STALL_HALF,	 /* half-way to the limit: take the first reading */
	STALL_BEGUN,	 /* over the limit; is_stalled is set */
	STALL_RECOVERED, /* the stalled scope moved; frame and stuck_ns still describe it */
};

/*
 * To be called first: returns whether anything moved since the last tick.  If not, the caller
 * finds out how much of the tick counts.  Forgets everything when another thread has the slot now.
 */
bool stall_moved(struct stall *stall, const struct stack *thread);
/* Whether a stall can still begin, so that it matters how much of the tick counts. */
bool stall_can_begin(const struct stall *stall, const struct stack *thread,
		     uint32_t default_limit_ms);
/*
 * To be called next: adds the part of the tick that counts, which may be 0.  For a thread that is
 * idle, has no scope or could not be copied, no time without progress is counted.
 */
enum stall_news stall_follow(struct stall *stall, const struct stack *thread, uint64_t counted_ns,
			     uint32_t default_limit_ms);

/* The kind of a stall, from the reading half-way and the reading now. */
enum scope_stall stall_judge(const struct stall_reading *first, const struct stall_reading *last);
const char *stall_name(enum scope_stall stall);

/*
 * How much of a tick counts.  Nothing counts when the process was throttled for a quarter of the
 * tick or more, or until a moment ago.  A gap counts as one tick.
 */
struct stall_clock {
	uint64_t hold_ns; /* time after throttling that still must not count */
};
uint64_t stall_counted_ns(struct stall_clock *clock, uint64_t passed_ns, uint64_t tick_ns,
			  uint64_t throttled_ns);

#endif
