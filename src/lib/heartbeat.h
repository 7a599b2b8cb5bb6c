/* SPDX-License-Identifier: MIT */
/*
 * The heartbeat thread: prints lines, looks for stalls, samples CPU time by label.  It shares no lock
 * with threads that open scopes.  A program whose threads all ended does not live on because of it.
 */
#ifndef LIB_HEARTBEAT_H
#define LIB_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/control.h"
#include "lib/warnings.h"

/*
 * Starts it with a copy of the options.  0: it prints the warnings first, and `warnings` is empty; or
 * a negative errno: then there is none.
 */
int heartbeat_start(const struct control *options, struct warnings *warnings);
/* Asks for the last lines and waits for its end, half a second at most. */
void heartbeat_stop(void);
/* Asks for lines now.  Signal-safe. */
void heartbeat_wake(void);
/* In a forked child: the thread is not there.  Touches no lock. */
void heartbeat_forget(void);
/* A scope has a limit so short: it is looked at often enough from now on. */
void heartbeat_notice_limit(uint32_t milliseconds);

#endif
