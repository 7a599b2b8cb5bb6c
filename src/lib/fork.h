/* SPDX-License-Identifier: MIT */
/*
 * A forked child.  It shares no memory with its parent from the first moment on: what it has open is
 * in a private copy, under a lock, until it opens a scope.  Then it gets memory that readers can see
 * and a heartbeat thread (see lib/start.h).  A child that never does costs only the copy.
 */
#ifndef LIB_FORK_H
#define LIB_FORK_H

#include <stdbool.h>

/* Once; 0 or a negative errno. */
int fork_prepare(void);

/* The memory is still the private copy: area_share() is due. */
bool fork_is_pending(void);
void fork_settle(void); /* it no longer is */

/* The thread that forked goes on with its block.  After fork_settle(). */
void fork_rejoin(void);

/* The thread that forked ends before it used scopes again: its block is given back. */
void fork_end_kept(void);

/* For closing a scope of a block that is kept aside. */
void fork_lock(void);
void fork_unlock(void);

#endif
