/* SPDX-License-Identifier: MIT */
/*
 * Finds what the threads of a process wait for, follows the holders and peers into other processes,
 * and finds out whether they wait for each other for ever.
 *
 * Nothing is stopped or traced.  The search is limited in time, in processes and in threads; what
 * is beyond the limits counts as able to go on.
 */
#ifndef SESSION_WAIT_SURVEY_H
#define SESSION_WAIT_SURVEY_H

#include "session/wait/wait_object.h"

#define WAIT_CYCLE_MAX 16
#define WAIT_PROCESSES_MAX 32

struct wait_member {
	struct wait_party who;
	struct wait_object object;
	uint64_t slices; /* how often it got a CPU so far */
};

/* Threads that wait for each other: each for the next one, the last for the first. */
struct wait_deadlock {
	struct wait_member members[WAIT_CYCLE_MAX];
	size_t count; /* 0: there is none */
};

/*
 * Fills `objects`, which has room for all threads of the state, and the deadlock that keeps one of
 * them waiting.  A deadlock is reported only if a second search, in which no member has run since
 * the first, finds the same one.  0 or -ENOMEM.
 */
int wait_survey(const struct host *host, const struct process_state *state,
		struct wait_object *objects, struct wait_deadlock *ret);

/*
 * The same for several processes, of which the first WAIT_PROCESSES_MAX count, without their objects
 * and until a deadline (CLOCK_MONOTONIC).  0, -ENOMEM, or -ETIMEDOUT: none was found, but there was
 * not enough time to find one.
 */
int wait_deadlock_find(const struct host *host, const struct task_key *processes, size_t count,
		       uint64_t deadline_ns, struct wait_deadlock *ret);

#endif
