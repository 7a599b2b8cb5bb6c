/* SPDX-License-Identifier: MIT */
/*
 * Users who kept us waiting while we searched their processes for jemalloc: the rest of what is
 * theirs is looked at after everybody else's, in this capture and in those of the next hour.
 */
#ifndef COLLECT_JEMALLOC_USERS_H
#define COLLECT_JEMALLOC_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct offset_cache;

/* All zeros is empty and valid. */
struct slow_users {
	ARRAY_OF(uint64_t) list;
};

void slow_users_clear(struct slow_users *users);

bool slow_users_has(const struct slow_users *users, uint64_t user);

/* 0 or -ENOMEM. */
int slow_users_add(struct slow_users *users, uint64_t user);

/* Whether a user was slow lately: known to this process, or on disk. */
bool slow_user_is_remembered(const struct offset_cache *cache, uint64_t user);
void slow_user_remember(const struct offset_cache *cache, uint64_t user);

#endif
