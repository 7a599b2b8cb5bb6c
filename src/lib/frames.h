/* SPDX-License-Identifier: MIT */
/*
 * The frames of a thread's block, within a change of it (see lib/block.h).
 */
#ifndef LIB_FRAMES_H
#define LIB_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/scope_layout.h"

/* Closes frames from `index` on, and all that are hidden beyond them. */
void frames_close(struct scope_thread *block, uint32_t index, uint64_t ticks, bool has_statistics);

/* The thread ended: whatever is open counts as unwound, and took nobody knows how long. */
void frames_drop(struct scope_thread *block);

#endif
