/* SPDX-License-Identifier: MIT */
/*
 * Counts and times scopes by label: for each thread in its block, and for all ended threads
 * together.
 *
 * The first 16 labels of a thread each have a place in its block, in the order of their first use.
 * Further ones are counted in the place that all threads have in common, which takes longer.
 * Labels without a number share the last place.
 */
#ifndef LIB_STATISTICS_H
#define LIB_STATISTICS_H

#include <stdint.h>

#include "base/scope_layout.h"

/* To be called during a change of the thread's own block. */
void statistics_open(struct scope_thread *thread, uint32_t label);
/* `self_ticks` is the part of `ticks` outside of scopes that were inside this one. */
void statistics_close(struct scope_thread *thread, uint32_t label, uint64_t ticks,
		      uint64_t self_ticks);

/* For the heartbeat, which holds the lock of threads.h: where a label of a thread is counted. */
struct scope_statistic *statistics_place(struct scope_thread *thread, uint32_t label);

/*
 * Adds a thread's statistics to those of ended threads, and empties them.  The caller holds the
 * lock of threads.h and is in a change both of the block and of the statistics of ended threads.
 */
void statistics_retire(struct scope_thread *thread);

#endif
