/* SPDX-License-Identifier: MIT */
/*
 * Starts and stops the library, and starts it again in a forked child.
 */
#ifndef LIB_START_H
#define LIB_START_H

#include <stdbool.h>

/*
 * In a forked child whose parent recorded scopes: starts recording here, too.  Returns whether
 * scopes are recorded.  Cheap when there is nothing to start.
 */
bool start_again(void);

/* Whether scopes are recorded, or will be after start_again().  Takes no lock. */
bool start_may_record(void);

/*
 * In a forked child, right after the fork: stops recording.  start_again() may resume it if
 * `may_go_on`.
 */
void start_forget(bool may_go_on);

#endif
