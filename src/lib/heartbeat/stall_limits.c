/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/stall_limits.h"

#define SECOND_NS UINT64_C(1000000000)

/* The shortest limit noticed in the last second, and the one that the heartbeat thread uses. */
static uint32_t noticed_ms = SCOPE_NO_LIMIT, used_ms = SCOPE_NO_LIMIT;

/* Returns true when the limit was longer before. */
static bool shorten(uint32_t *limit, uint32_t milliseconds)
{
	uint32_t now = __atomic_load_n(limit, __ATOMIC_SEQ_CST);

	while (milliseconds < now)
		if (__atomic_compare_exchange_n(limit, &now, milliseconds, false, __ATOMIC_SEQ_CST,
						__ATOMIC_SEQ_CST))
			return true;
	return false;
}

bool limits_notice(uint32_t milliseconds)
{
	shorten(&noticed_ms, milliseconds);
	return shorten(&used_ms, milliseconds);
}

/*
 * Closed scopes with short limits no longer keep the thread busy.  A scope that opens and closes
 * between two copies counts for a second, so that each new one of them does not wake the thread
 * again.
 */
void limits_renew(struct limits *limits, const struct stacks *stacks)
{
	uint32_t shortest = stacks->shortest_limit_ms;
	uint32_t noticed = __atomic_load_n(&noticed_ms, __ATOMIC_SEQ_CST);

	if (stacks->ns >= limits->forget_at_ns) {
		noticed = __atomic_exchange_n(&noticed_ms, SCOPE_NO_LIMIT, __ATOMIC_SEQ_CST);
		limits->forget_at_ns = stacks->ns + SECOND_NS;
	}
	__atomic_store_n(&used_ms, noticed < shortest ? noticed : shortest, __ATOMIC_SEQ_CST);
	/*
	 * A thread that called limits_notice() just before this store compared with the old limit
	 * and did not wake the heartbeat; so take its limit here.
	 */
	shorten(&used_ms, __atomic_load_n(&noticed_ms, __ATOMIC_SEQ_CST));
}

uint32_t limits_shortest(void)
{
	return __atomic_load_n(&used_ms, __ATOMIC_SEQ_CST);
}
