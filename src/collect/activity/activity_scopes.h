/* SPDX-License-Identifier: MIT */
/*
 * The scopes that active threads are in.  Which processes use libtaskscope is found out at each
 * full sample; in between only these are read, and only those that have an active thread.
 */
#ifndef COLLECT_ACTIVITY_SCOPES_H
#define COLLECT_ACTIVITY_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"

struct activity;
struct host;

struct scope_user {
	int32_t pid;
	uint64_t start_ns;
	bool is_active; /* in this walk */
};

/* All zeros is empty and valid. */
struct activity_scopes {
	ARRAY_OF(struct scope_user) users;
	struct number_map by_pid; /* to the place in the list, plus 1 */
};

void activity_scopes_clear(struct activity_scopes *scopes);
/* A process that has scopes.  Without memory it is left out. */
void activity_scopes_note(struct activity_scopes *scopes, int32_t pid, uint64_t start_ns);
/* Sets the scope of each sample that is in one. */
void activity_scopes_label(struct activity_scopes *scopes, const struct host *host,
			   struct activity *activity);

#endif
