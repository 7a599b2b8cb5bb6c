/* SPDX-License-Identifier: MIT */
/*
 * Starting, stopping, and starting again in a forked child.
 */
#ifndef LIB_START_H
#define LIB_START_H

#include <stdbool.h>

/*
 * In a forked child whose parent recorded scopes: from now on this process does, too.  False when
 * there is nothing to start again; cheap then.
 */
bool start_again(void);

/* Whether it would: then nothing is recorded yet, but will be.  No lock. */
bool start_may_go_on(void);

/* In a forked child, at once: nothing is recorded, but start_again() will, if it may. */
void start_forget(bool may_go_on);

/* Nobody starts or stops meanwhile. */
void start_lock(void);
void start_unlock(void);

#endif
