/* SPDX-License-Identifier: MIT */
/*
 * Searches members of a tree for scopes: decides when, how thoroughly, and at what cost.  Part of
 * session/phase/phases.h, which has the public functions.
 */
#ifndef SESSION_PHASE_SEARCH_H
#define SESSION_PHASE_SEARCH_H

#include "collect/scope/scope_reader.h"

struct phase_member;
struct phase_watch;

void phase_search_begin(struct phase_watch *watch);
/* Makes the search of a member start again soon: it has just begun, or runs another program. */
void phase_search_again(struct phase_member *member);
/* Searches a member now.  What is found becomes the member's view. */
void phase_search_member(struct phase_watch *watch, struct phase_member *member,
			 enum scope_search search);
/* Counts a read that failed if `status` is a negative errno. */
void phase_count_failure(struct phase_watch *watch, int status);

#endif
