/* SPDX-License-Identifier: MIT */
/*
 * Closes frames of a thread's block.  To be called during a change of the block (see lib/block.h).
 */
#ifndef LIB_FRAMES_H
#define LIB_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scope_layout.h"

/* Closes the frames from `index` on, and all scopes that are hidden beyond them. */
void frames_close(struct scope_thread *block, uint32_t index, uint64_t ticks, bool has_statistics);

/*
 * The thread ended: counts all that is open as unwound.  How long those scopes took is not known.
 */
void frames_drop(struct scope_thread *block);

#endif
