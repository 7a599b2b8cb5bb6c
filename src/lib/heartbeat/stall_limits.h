/* SPDX-License-Identifier: MIT */
/*
 * The shortest limit of all scopes, which says how often the heartbeat thread must copy the stacks.
 * Each copy has the limits of open scopes; a limit that is set between two is noticed at once.
 */
#ifndef LIB_STALL_LIMITS_H
#define LIB_STALL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/heartbeat/stacks.h"

/* Belongs to the heartbeat thread; zero at its start. */
struct limits {
	uint64_t forget_at_ns; /* when to forget noticed limits */
};

/*
 * May be called by any thread.  Returns true when the heartbeat thread would come too late and
 * must be woken.
 */
bool limits_notice(uint32_t milliseconds);
/* To be called after each copy. */
void limits_renew(struct limits *limits, const struct stacks *stacks);
/* In milliseconds; SCOPE_NO_LIMIT when no scope has a limit. */
uint32_t limits_shortest(void);

#endif
