/* SPDX-License-Identifier: MIT */
/*
 * What happens to scopes in a forked child.  It shares no memory with its parent from the first
 * moment on.  Until the child opens a scope, its open scopes are in a private copy, under LOCK_START.
 * Then it gets memory that readers can see, and a heartbeat thread (see lib/start.h).  A child
 * that never opens a scope pays only for the copy.
 */
#ifndef LIB_FORK_H
#define LIB_FORK_H

/* Installs the handlers of forks; to be called once.  Returns 0 or a negative errno. */
int fork_prepare(void);

/* The thread that forked uses its block again.  Call after area_share(). */
void fork_rejoin(void);

/* Gives back the block of the thread that forked, when it ends before it used scopes again. */
void fork_end_kept(void);

#endif
