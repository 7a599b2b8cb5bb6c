/* SPDX-License-Identifier: MIT */
/*
 * Counts and times scopes by label: for each thread in its block, and for all ended threads
 * together.
 *
 * The first 16 labels of a thread each have a place, in the order of their first use.  All other
 * labels, and those made at run time, share the last place.
 */
#ifndef LIB_STATISTICS_H
#define LIB_STATISTICS_H

#include <stdint.h>

#include "base/scope_layout.h"

/* To be called during a change of the thread's own block. */
void statistics_open(struct scope_thread *thread, uint32_t label);
void statistics_close(struct scope_thread *thread, uint32_t label, uint64_t ticks);

/*
 * Adds a thread's statistics to those of ended threads, and empties them.  The caller holds the
 * lock of threads.h and is in a change both of the block and of the statistics of ended threads.
 */
void statistics_retire(struct scope_thread *thread);

#endif
