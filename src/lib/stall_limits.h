/* SPDX-License-Identifier: MIT */
/*
 * The shortest limit of scopes: how often the heartbeat thread has to look.  What is open is seen with
 * each look; a limit that is set in between is noticed at once.
 */
#ifndef LIB_STALL_LIMITS_H
#define LIB_STALL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/look.h"

/* Of the heartbeat thread; zero at its start. */
struct limits {
	uint64_t forget_at_ns; /* what was noticed */
};

/* By any thread.  True when the heartbeat thread would look too late: it is to be woken. */
bool limits_notice(uint32_t milliseconds);
/* After each look. */
void limits_renew(struct limits *limits, const struct look *look);
/* In milliseconds; SCOPE_NO_LIMIT: there is none. */
uint32_t limits_shortest(void);

#endif
