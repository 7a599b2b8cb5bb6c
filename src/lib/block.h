/* SPDX-License-Identifier: MIT */
/*
 * A change of a thread's block, as base/scope_layout.h wants it: the sequence is odd meanwhile, and
 * every store is a release.  By the owner, or by whoever ends an owner that is gone.
 *
 * A signal handler that comes in the middle must not begin a change of its own: the owner says so
 * to itself with self.is_changing before it looks at anything (see lib/threads.h).
 */
#ifndef LIB_BLOCK_H
#define LIB_BLOCK_H

#include <stdint.h>

#include "base/scope_layout.h"

#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)

/* Also of a block whose owner died in the middle of a change. */
static inline void block_begin_change(struct scope_thread *block)
{
	STORE(block->sequence, block->sequence | 1);
}

static inline void block_end_change(struct scope_thread *block)
{
	STORE(block->sequence, block->sequence + 1);
}

#endif
