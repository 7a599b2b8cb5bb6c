/* SPDX-License-Identifier: MIT */
/*
 * How a thread's block is changed, as base/scope_layout.h requires: the sequence is odd during the
 * change, and every store is a release.  Only the owner changes a block, or the thread that ends a
 * block whose owner is gone.
 *
 * A signal handler that interrupts a change must not begin one of its own.  So the owner sets
 * self.is_changing before it reads anything (see lib/scope/threads.h).
 */
#ifndef LIB_BLOCK_H
#define LIB_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/scope_layout.h"

#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)

/* Also works on a block whose owner died in the middle of a change. */
static inline void block_begin_change(struct scope_thread *block)
{
	STORE(block->sequence, block->sequence | 1);
}

static inline void block_end_change(struct scope_thread *block)
{
	STORE(block->sequence, block->sequence + 1);
}

typedef uint64_t __attribute__((may_alias)) shared_word;

/*
 * Copies memory that other threads may be changing, word by word.  Both places begin at a word; a
 * word that has only a part in `size` is copied whole.
 */
static inline void words_copy(void *target, const void *source, size_t size)
{
	shared_word *to = target;
	const shared_word *from = source;

	for (size_t i = 0; i < (size + sizeof(shared_word) - 1) / sizeof(shared_word); i++)
		STORE(to[i], LOAD(from[i]));
}

/* Zeroes whole words while other threads may be reading them. */
static inline void words_clear(void *target, size_t size)
{
	shared_word *to = target;

	for (size_t i = 0; i < size / sizeof(shared_word); i++)
		STORE(to[i], 0);
}

/*
 * These two are to be called during a change.  The first closes the frames from `index` on, and all
 * scopes that are hidden beyond them.
 */
void frames_close(struct scope_thread *block, uint32_t index, uint64_t ticks, bool has_statistics);
/*
 * The thread ended: counts all that is open as unwound.  How long those scopes took is not known.
 */
void frames_drop(struct scope_thread *block);

#endif
