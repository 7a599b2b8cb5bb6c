/* SPDX-License-Identifier: MIT */
/*
 * Keeps account of how much of the time for finding jemalloc each user takes.  A user is slow who
 * took more than a fair share, or whose memory, files or code did not answer in time.  The
 * remaining processes of slow users are read after everybody else's.  Users who did not answer in
 * time also come last during the next hour.
 */
#ifndef COLLECT_JEMALLOC_SLOW_USERS_H
#define COLLECT_JEMALLOC_SLOW_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"

struct offset_cache;

struct user_time {
	uint64_t user;
	uint64_t spent_ms;    /* in this sample, on learning about files of the user's processes */
	bool was_late;	      /* in this sample, something did not answer in time */
	bool was_late_before; /* in the hour before this sample */
	uint64_t late_until_ms; /* CLOCK_MONOTONIC; 0: was not late */
};

/* All zeros is empty and valid. */
struct user_times {
	ARRAY_OF(struct user_time) list;
};

void user_times_clear(struct user_times *users);

/* Starts a sample: forgets everything except which users were late in the last hour. */
void user_times_start(struct user_times *users);

/*
 * Adds a user of this sample, once.  Asks the cache on disk, too, whether the user was late
 * before.  0 or -ENOMEM.
 */
int user_times_add(struct user_times *users, const struct offset_cache *cache, uint64_t user);

/* Adds time that was spent on a user of this sample. */
void user_times_charge(struct user_times *users, uint64_t user, uint64_t ms, bool was_late);

bool user_is_slow(const struct user_time *user);
struct user_time *user_times_find(const struct user_times *users, uint64_t user); /* or NULL */

/*
 * Remembers which users were late, in memory and on disk; in memory because there may be no cache
 * directory.
 */
void user_times_remember(struct user_times *users, const struct offset_cache *cache);

#endif
