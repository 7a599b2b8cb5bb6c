/*
 * The heartbeat thread: prints lines, looks for stalls, samples CPU time by label.  It shares no lock
 * with threads that open scopes.
 */
#ifndef LIB_HEARTBEAT_H
#define LIB_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

/* Starts it with the options in force.  0, or a negative errno: then there is none. */
int heartbeat_start(void);
/* Asks for the last lines and waits for its end, half a second at most. */
void heartbeat_stop(void);
/* Asks for lines now.  Signal-safe. */
void heartbeat_wake(void);
/* In a forked child: the thread is not there.  Touches no lock. */
void heartbeat_forget(void);
/* A scope has a limit so short: it is looked at often enough from now on. */
void heartbeat_notice_limit(uint32_t milliseconds);

#endif
