/* SPDX-License-Identifier: MIT */
/*
 * The command that we started ourselves: held before its exec, a member from then on, and at its
 * end, as long as nobody reaped it, a source of the CPU time of all that it waited for.
 */
#ifndef TRACE_OWN_CHILD_H
#define TRACE_OWN_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/counters.h"
#include "trace/members.h"

struct error;

/* All zeros: there is none. */
struct own_child {
	int32_t pid;
	bool is_held; /* it has not run its program yet */
	uint64_t start_ns;
	uint64_t held_ns; /* CLOCK_MONOTONIC */
	struct thread_counters before;
	uint64_t reaped_before_ns; /* CPU time of children that we had reaped before */
};

/* Notes a child that waits for its exec.  0, or -ESRCH and a sentence. */
int own_child_hold(struct own_child *child, const struct host *host, int32_t pid,
		   struct error *error);

bool own_child_is_held(const struct own_child *child, int32_t pid);

/* It runs its program: adds it to the members and tells.  0 or -ENOMEM. */
int own_child_begin(struct own_child *child, struct members *members, uint64_t time_ns);

/* It ended without. */
void own_child_forget_held(struct own_child *child, int32_t pid);

/* Looks whether it runs its program by now, and begins if so.  0 or -ENOMEM. */
int own_child_check(struct own_child *child, struct members *members);

/*
 * It ended: finds out its CPU time, and that of all descendants that were waited for.  For other
 * members nothing is done.  Before its last thread is ended.
 */
void own_child_settle(const struct own_child *child, struct members *members,
		      struct member *member);

#endif
