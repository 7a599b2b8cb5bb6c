/* SPDX-License-Identifier: MIT */
/*
 * This room is the heartbeat thread: it prints lines, finds stalls and samples CPU time by label.
 * It shares no lock with threads that open scopes.  It does not keep alive a program whose own
 * threads have all ended.
 */
#ifndef LIB_HEARTBEAT_H
#define LIB_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/control.h"
#include "lib/lines/warnings.h"

/*
 * Starts the thread with a copy of the options.  Returns 0: it prints the warnings first, and
 * `warnings` is now empty.  Or returns a negative errno: there is no thread.
 */
int heartbeat_start(const struct control *options, struct warnings *warnings);
/* Asks the thread for the last lines and waits until it ended, half a second at most. */
void heartbeat_stop(void);
/* Asks the thread to print lines now.  Signal-safe. */
void heartbeat_wake(void);
/* For a forked child, which does not have the thread.  Touches no lock. */
void heartbeat_forget(void);
/* A scope got a limit: from now on the thread checks often enough for it. */
void heartbeat_notice_limit(uint32_t milliseconds);

#endif
