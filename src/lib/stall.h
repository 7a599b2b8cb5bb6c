/* SPDX-License-Identifier: MIT */
/*
 * When a scope counts as stalled, and why.  Pure: the readings and the time are the caller's.
 *
 * A thread makes progress when it opens or closes a scope, or when a counter of its open scopes
 * moves.  Its silence is measured against the limit of its innermost scope, and against limits that
 * scopes around it have of their own.  A scope with a counter and a limit of its own is measured by
 * that counter alone.  Nothing is measured while the thread is idle.
 *
 * Time is added up by ticks, so that a caller can leave out time in which nothing could have
 * happened.
 */
#ifndef LIB_STALL_H
#define LIB_STALL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/line.h"
#include "lib/look.h"

struct stall_counter {
	uint32_t generation;
	uint64_t count, total;
	uint64_t still_ns; /* since it moved last */
	bool has_moved;	   /* in this tick */
};

struct stall_reading {
	struct amount cpu_ns, delay_ns;
	uint64_t at_ns; /* of the time that counts */
	char state;	/* 0: unknown */
};

struct stall_watch {
	int32_t tid;
	uint32_t sequence;
	bool has_moved;	   /* in this tick */
	uint64_t still_ns; /* since the thread made progress */
	struct stall_counter counters[SCOPE_FRAMES];

	bool is_stalled;
	uint32_t frame, generation; /* which scope is */
	uint64_t stuck_ns;	    /* for how long, while it is */

	bool has_first;
	struct stall_reading first; /* half-way to the limit */
};

enum stall_news {
	STALL_QUIET,	 /* nothing to tell */
	STALL_HALF,	 /* half-way: take the first reading */
	STALL_BEGUN,	 /* over the limit; is_stalled is set */
	STALL_RECOVERED, /* the stalled scope went on; frame and stuck_ns are still those of it */
};

/*
 * First: whether anything moved since the last tick; if not, the caller finds out how much of the
 * tick counts.  Forgets everything when another thread has the place.
 */
bool stall_moved(struct stall_watch *watch, const struct look_thread *thread);
/* Whether it matters how much of the tick counts: a stall can still come of it. */
bool stall_can_begin(const struct stall_watch *watch, const struct look_thread *thread,
		     uint32_t default_limit_ms);
/*
 * Then: adds the time that counts, 0 if none does.  A thread that is idle, that has no scope or that
 * could not be copied has no silence.
 */
enum stall_news stall_follow(struct stall_watch *watch, const struct look_thread *thread,
			     uint64_t counted_ns, uint32_t default_limit_ms);

/* Why, from what was read half-way and what is read now. */
enum scope_stall stall_judge(const struct stall_reading *first, const struct stall_reading *last);
const char *stall_name(enum scope_stall stall);

/*
 * How much of a tick counts: none when the process was throttled for a quarter of it or more, or
 * a moment ago; a gap counts as one tick.
 */
struct stall_clock {
	uint64_t hold_ns; /* what is still left out after throttling */
};
uint64_t stall_counted_ns(struct stall_clock *clock, uint64_t passed_ns, uint64_t tick_ns,
			  uint64_t throttled_ns);

#endif
