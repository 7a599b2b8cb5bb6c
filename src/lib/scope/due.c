/* SPDX-License-Identifier: MIT */
#include <stdbool.h>

#include <taskscope.h>

#include "lib/attributes.h"
#include "lib/scope/ticks.h"

/*
 * This clock moves with the kernel's timer tick.  Reading it takes a few nanoseconds, also where
 * reading a CPU counter is slow or takes a system call.
 */
static uint64_t now_ns(void)
{
	return ticks_clock_ns(CLOCK_MONOTONIC_COARSE);
}

PUBLIC int taskscope_due(taskscope_due_state *state, uint32_t interval_ms)
{
	uint64_t next_ns = __atomic_load_n(&state->next_ns, __ATOMIC_RELAXED);
	uint64_t now = now_ns();
	bool is_first = next_ns == 0;

	if (__builtin_expect(now < next_ns, 1) || interval_ms == TASKSCOPE_NEVER)
		return 0;
	/* Only one of several threads moves the state to the next interval. */
	return __atomic_compare_exchange_n(&state->next_ns, &next_ns,
					   now + interval_ms * UINT64_C(1000000), false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
	       !is_first;
}
