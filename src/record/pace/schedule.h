/* SPDX-License-Identifier: MIT */
/*
 * When the next tick is due, and when old data is dropped.  Ticks have absolute deadlines, so that their cost does not add up to
 * a drift; a deadline that passed without its tick is counted as missed.  Pure: the caller passes
 * the time.
 */
#ifndef RECORD_SCHEDULE_H
#define RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule {
	uint64_t interval_ns;
	uint64_t next_ns; /* the deadline */
	uint64_t missed;  /* in all */
};

/* The first tick is due at once. */
void schedule_begin(struct schedule *schedule, uint64_t interval_ns, uint64_t now_ns);

/* Call it after a tick: sets the next deadline, and returns how many were missed just now. */
uint64_t schedule_taken(struct schedule *schedule, uint64_t now_ns);

/*
 * Old data is dropped at the start and then hourly.  But when the wall clock was set since it was last
 * looked at, it may be wrong now, and what it calls old would be lost: then it is given an hour more.
 */
enum expiry_answer { EXPIRY_NOT_YET, EXPIRY_NOW, EXPIRY_CLOCK_WAS_SET };

struct expiry {
	bool has_looked;
	uint64_t looked_ns;    /* when it was due last, by the clock that counts from boot */
	uint64_t boot_unix_ns; /* when the host booted, as the wall clock had it then */
};

enum expiry_answer expiry_ask(struct expiry *expiry, uint64_t boottime_ns, uint64_t unix_ns);

#endif
