/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_users.h"

#include "collect/jemalloc_budget.h"
#include "host/offset_cache.h"

#define REMEMBERED_MAX 32
#define MS_PER_SECOND 1000

/* In memory as well, since there may be no cache directory; the oldest entries make room. */
static _Thread_local struct {
	uint64_t user;
	uint64_t until_ms;
} remembered[REMEMBERED_MAX];
static _Thread_local unsigned next_place;

void slow_users_clear(struct slow_users *users)
{
	array_free(&users->list);
}

bool slow_users_has(const struct slow_users *users, uint64_t user)
{
	for (size_t i = 0; i < users->list.count; i++)
		if (users->list.data[i] == user)
			return true;
	return false;
}

int slow_users_add(struct slow_users *users, uint64_t user)
{
	return slow_users_has(users, user) ? 0 : array_append(&users->list, user);
}

bool slow_user_is_remembered(const struct offset_cache *cache, uint64_t user)
{
	uint64_t now_ms = time_budget_now_ms();

	for (unsigned i = 0; i < REMEMBERED_MAX; i++)
		if (remembered[i].user == user && remembered[i].until_ms > now_ms)
			return true;
	return offset_cache_was_slow(cache, user);
}

void slow_user_remember(const struct offset_cache *cache, uint64_t user)
{
	remembered[next_place].user = user;
	remembered[next_place].until_ms =
		time_budget_now_ms() + OFFSET_CACHE_FAILURE_SECONDS * MS_PER_SECOND;
	next_place = (next_place + 1) % REMEMBERED_MAX;
	offset_cache_keep_slow(cache, user);
}
