/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_slow_users.h"

#include "collect/jemalloc/jemalloc_budget.h"
#include "host/oracle/offset_cache.h"

#define FAIR_SHARE_MS (JEMALLOC_BUDGET_MS / BUDGET_SHARE)
#define MS_PER_SECOND 1000

void user_times_clear(struct user_times *users)
{
	array_free(&users->list);
}

void user_times_start(struct user_times *users)
{
	uint64_t now_ms = time_budget_now_ms();
	size_t kept = 0;

	for (size_t i = 0; i < users->list.count; i++) {
		const struct user_time *user = &users->list.data[i];

		if (user->late_until_ms > now_ms)
			users->list.data[kept++] = (struct user_time){
				.user = user->user,
				.was_late_before = true,
				.late_until_ms = user->late_until_ms,
			};
	}
	users->list.count = kept;
}

struct user_time *user_times_find(const struct user_times *users, uint64_t user)
{
	for (size_t i = 0; i < users->list.count; i++)
		if (users->list.data[i].user == user)
			return &users->list.data[i];
	return NULL;
}

int user_times_add(struct user_times *users, const struct offset_cache *cache, uint64_t user)
{
	struct user_time added = { .user = user };

	if (user_times_find(users, user))
		return 0;
	added.was_late_before = offset_cache_was_slow(cache, user);
	return array_append(&users->list, added);
}

void user_times_charge(struct user_times *users, uint64_t user, uint64_t ms, bool was_late)
{
	struct user_time *found = user_times_find(users, user);

	if (!found)
		return;
	found->spent_ms += ms;
	found->was_late |= was_late;
}

bool user_is_slow(const struct user_time *user)
{
	return user->was_late_before || user->was_late || user->spent_ms >= FAIR_SHARE_MS;
}

/* Root is not remembered as late: its processes come first in any case, and have their own time. */
void user_times_remember(struct user_times *users, const struct offset_cache *cache)
{
	for (size_t i = 0; i < users->list.count; i++) {
		struct user_time *user = &users->list.data[i];

		if (!user->was_late || user->was_late_before || user->user == 0)
			continue;
		user->late_until_ms =
			time_budget_now_ms() + OFFSET_CACHE_FAILURE_SECONDS * MS_PER_SECOND;
		offset_cache_keep_slow(cache, user->user);
	}
}
