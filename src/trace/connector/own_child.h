/* SPDX-License-Identifier: MIT */
/*
 * The command that we started ourselves.  It is held before its exec and is a member afterwards.
 * At its end, before it is reaped, it gives the CPU time of all children that it waited for.
 */
#ifndef TRACE_OWN_CHILD_H
#define TRACE_OWN_CHILD_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/bpf/counters.h"
#include "trace/proc/members.h"

struct error;

/* All zeros: there is none. */
struct own_child {
	int32_t pid;
	bool is_held; /* it has not run its program yet */
	uint64_t start_ns;
	uint64_t held_ns; /* CLOCK_MONOTONIC */
	struct amounts before;
	uint64_t reaped_before_ns; /* CPU time of children that we reaped before it */
};

/* Notes a child that is held before its exec.  0, or -ESRCH and a sentence. */
int own_child_hold(struct own_child *child, struct members *members, int32_t pid,
		   struct error *error);

bool own_child_is_held(const struct own_child *child, int32_t pid);

/* Call it after its exec: adds it to the members and reports it.  0 or -ENOMEM. */
int own_child_begin(struct own_child *child, struct members *members, uint64_t time_ns);

/* Call it when a task ended: a held child with this number ended without an exec. */
void own_child_forget_held(struct own_child *child, int32_t pid);

/* Checks whether it did its exec, and calls own_child_begin() if so.  0 or -ENOMEM. */
int own_child_check(struct own_child *child, struct members *members);

/*
 * Call it when a member ended, before its last thread is ended.  For the command it finds its CPU
 * time and that of all descendants that were waited for; for other members it does nothing.
 */
void own_child_measure(const struct own_child *child, struct members *members,
		       struct member *member);

#endif
