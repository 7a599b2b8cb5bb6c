/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdatomic.h>

static atomic_bool missing;

void memory_note_missing(void)
{
	atomic_store(&missing, true);
}

bool memory_was_missing(void)
{
	return atomic_load(&missing);
}
