/* SPDX-License-Identifier: MIT */
/*
 * What single threads show that the sums of a tree do not.
 *
 * Parked: a thread that hardly ever runs and has one long wait for a lock, a
 * pipe or a socket.  Workers of runtimes that wait for work in that way seem to
 * be held up; while others keep the tree busy, their waits say nothing about
 * what limits it.
 *
 * Dormant: parked in so few waits that it is probably a helper that waits for
 * input.  Beside a thread that sleeps or waits for events it says nothing
 * either, although nobody keeps the tree busy.
 *
 * Covered: a wait for a pipe while other threads of the tree were busy for as
 * long.  In a pipeline all but the slowest part wait for that part; its work is
 * what limits them all.
 *
 * Turns: many short waits on conditions that threads of the same kind end for
 * each other.  A read-write lock, an interpreter's lock or a lock made of a
 * condition variable behaves so.  A thread that only waits for work is woken by
 * one that does not wait itself.
 */
#ifndef ANALYZE_VERDICT_THREADS_H
#define ANALYZE_VERDICT_THREADS_H

#include "model/tree/run.h"

/* Threads that wait on conditions many times a second. */
struct turn_sums {
	size_t threads, running; /* running: those that compute as well */
	double waited, count;	 /* on conditions */
	double runs;		 /* on a CPU, or wanting one */
	bool mutual;		 /* they wake each other, or, where that is not known, all run */
};

struct thread_sums {
	double parked[WAIT_REASON_COUNT];  /* ns */
	double dormant[WAIT_REASON_COUNT]; /* a part of it */
	double dormant_leaders;		   /* of the first threads of processes */
	bool root_is_parked;		   /* the first thread of the command */
	double leader[WAIT_REASON_COUNT];  /* waits of the first threads of processes */
	double covered;			   /* ns of waits for pipes */
	double open;			   /* waits in calls that had not returned at the end */
	struct turn_sums turns;
	double accepting; /* those in accept(): waiting for work */
};

void thread_sums_gather(const struct run *run, struct thread_sums *ret);

#endif
