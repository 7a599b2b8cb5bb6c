/* SPDX-License-Identifier: MIT */
#include "lib/stall_limits.h"

#define SECOND_NS UINT64_C(1000000000)

/* What was noticed in the last second, and what the heartbeat thread goes by. */
static uint32_t noticed_ms = SCOPE_NO_LIMIT, watched_ms = SCOPE_NO_LIMIT;

/* True when it was longer before. */
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
	return shorten(&watched_ms, milliseconds);
}

/*
 * Scopes with short limits that are gone no longer keep the thread busy.  Those that come and go
 * between two looks count for a second, so that each of them does not wake it anew.
 */
void limits_renew(struct limits *limits, const struct look *look)
{
	uint32_t shortest = look->shortest_limit_ms;
	uint32_t noticed = __atomic_load_n(&noticed_ms, __ATOMIC_SEQ_CST);

	if (look->ns >= limits->forget_at_ns) {
		noticed = __atomic_exchange_n(&noticed_ms, SCOPE_NO_LIMIT, __ATOMIC_SEQ_CST);
		limits->forget_at_ns = look->ns + SECOND_NS;
	}
	__atomic_store_n(&watched_ms, noticed < shortest ? noticed : shortest, __ATOMIC_SEQ_CST);
	/* Who came just before that store saw the limit of before, and woke nobody. */
	shorten(&watched_ms, __atomic_load_n(&noticed_ms, __ATOMIC_SEQ_CST));
}

uint32_t limits_shortest(void)
{
	return __atomic_load_n(&watched_ms, __ATOMIC_SEQ_CST);
}
