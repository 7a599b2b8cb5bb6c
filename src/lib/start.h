/* SPDX-License-Identifier: MIT */
/*
 * Starting, stopping, and starting again in a forked child.
 */
#ifndef LIB_START_H
#define LIB_START_H

#include <stdbool.h>

/*
 * In a forked child whose parent recorded scopes: from now on this process does, too.  Whether scopes
 * are recorded; cheap when there is nothing to start again.
 */
bool start_again(void);

/* Whether scopes are recorded, or will be after start_again().  No lock. */
bool start_may_record(void);

/* In a forked child, at once: nothing is recorded, but start_again() will, if it may. */
void start_forget(bool may_go_on);

/* Nobody starts or stops meanwhile. */
void start_lock(void);
void start_unlock(void);

#endif
