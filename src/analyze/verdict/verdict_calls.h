/* SPDX-License-Identifier: MIT */
/*
 * Sorts the system calls of a run by what they say about its limits.
 */
#ifndef ANALYZE_VERDICT_CALLS_H
#define ANALYZE_VERDICT_CALLS_H

#include "analyze/verdict/verdict_facts.h"

/* Calls whose time is weighed, by name; a name is in one list only. */
enum call_list {
	LIST_READ,
	LIST_WRITE,
	LIST_SYNC,
	LIST_POLL,
	LIST_CONNECT,
	LIST_ACCEPT,
	LIST_REST,
	LIST_COUNT,
};

/* Adds to `lists`, and sets the facts that are sums of calls. */
void verdict_calls_gather(struct verdict_facts *facts, struct call_sum lists[LIST_COUNT]);

#endif
