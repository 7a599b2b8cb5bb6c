/* SPDX-License-Identifier: MIT */
/*
 * When the next tick is due.  Ticks have absolute deadlines, so that their cost does not add up to
 * a drift; a deadline that passed without its tick is counted as missed.  Pure: the caller passes
 * the time.
 */
#ifndef RECORD_SCHEDULE_H
#define RECORD_SCHEDULE_H

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

#endif
