/* SPDX-License-Identifier: MIT */
/*
 * A handle names an open scope: generation << 24 | index of the frame << 16 | slot of the block.
 *
 * The generation counts the scopes of a block, over all of its owners, so that an old handle never
 * matches a new scope.  A scope beyond the frames has index HANDLE_HIDDEN, and as generation the
 * number of hidden scopes.  Neither number is ever 0, so no handle is 0.
 */
#ifndef LIB_HANDLE_H
#define LIB_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

#include <taskscope.h>

#include "base/scope_layout.h"

enum { HANDLE_HIDDEN = 255 };

static inline uint32_t handle_generation(uint64_t handle)
{
	return (uint32_t)(handle >> 24);
}

static inline uint32_t handle_index(uint64_t handle)
{
	return (handle >> 16) & 0xff;
}

static inline uint32_t handle_slot(uint64_t handle)
{
	return handle & 0xffff;
}

static inline struct taskscope_scope handle_make(uint64_t generation, uint64_t index, uint32_t slot)
{
	return (struct taskscope_scope){ generation << 24 | index << 16 | slot };
}

/* Whether the handle names an open frame of this block. */
static inline bool handle_is_open(const struct scope_thread *block, uint64_t handle)
{
	uint32_t index = handle_index(handle);

	return handle_slot(handle) == block->slot && index < block->depth &&
	       block->frames[index].generation == handle_generation(handle);
}

static_assert((int)SCOPE_FRAMES < HANDLE_HIDDEN, "an index tells a frame from none");
static_assert(SCOPE_THREADS <= 1 << 16, "a slot has 16 bits");

#endif
