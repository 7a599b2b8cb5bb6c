/* SPDX-License-Identifier: MIT */
/*
 * How members of a tree are searched for scopes: when, how hard, and what that may cost.  Part of
 * session/phases.h, which has the functions for others.
 */
#ifndef SESSION_PHASE_SEARCH_H
#define SESSION_PHASE_SEARCH_H

#include "collect/scope_reader.h"

struct phase_member;
struct phase_watch;

void phase_search_begin(struct phase_watch *watch);
/* It is searched soon, and as a new one: it has just begun, or runs another program. */
void phase_search_again(struct phase_member *member);
/* Right now.  What is found is the member's view from then on. */
void phase_search_member(struct phase_watch *watch, struct phase_member *member,
			 enum scope_search search);
/* Of a negative errno, a look that failed; of others nothing. */
void phase_count_failure(struct phase_watch *watch, int status);

#endif
