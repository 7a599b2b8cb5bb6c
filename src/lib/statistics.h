/* SPDX-License-Identifier: MIT */
/*
 * Counts and times of scopes by label: of a thread, in its block, and of all threads that ended.
 *
 * The first 16 labels of a thread have a place of their own, in the order of their first use; all
 * others, and labels that were made at run time, share the last one.
 */
#ifndef LIB_STATISTICS_H
#define LIB_STATISTICS_H

#include <stdint.h>

#include "base/scope_layout.h"

/* Within a change of the thread's own block. */
void statistics_open(struct scope_thread *thread, uint32_t label);
void statistics_close(struct scope_thread *thread, uint32_t label, uint64_t ticks);

/*
 * Moves all of a thread's statistics to those of ended threads.  The caller holds the lock of
 * threads.h, is in a change of the block and of the statistics of ended threads.
 */
void statistics_retire(struct scope_thread *thread);

#endif
