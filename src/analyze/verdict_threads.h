/*
 * What single threads tell that the sums of a tree do not.
 *
 * Parked: a thread that hardly ever runs and has one long wait for a lock, a pipe or a socket.
 * Workers of runtimes that wait for work like that look as if they were held up; while others
 * keep the tree busy, their waits say nothing about what limits it.
 *
 * Dormant: parked in so few waits that it looks like a helper that waits for input.  Beside someone
 * who sleeps or waits for events it says nothing either, though nobody keeps the tree busy.
 *
 * Covered: a wait for a pipe while other threads of the tree were busy for as long.  In a pipeline
 * all but the slowest part wait for it; what it does is what limits them all.
 */
#ifndef ANALYZE_VERDICT_THREADS_H
#define ANALYZE_VERDICT_THREADS_H

#include "model/run.h"

struct thread_sums {
	double parked[WAIT_REASON_COUNT];  /* ns */
	double dormant[WAIT_REASON_COUNT]; /* a part of it */
	double dormant_leaders;		   /* of the first threads of processes */
	bool root_is_parked;		   /* the first thread of the command */
	double leader[WAIT_REASON_COUNT];  /* waits of the first threads of processes */
	double covered;			   /* ns of waits for pipes */
	double open;			   /* waits in calls that were not over at the end */
	double accepting;		   /* those in accept(): waiting for work */
};

void thread_sums_gather(const struct run *run, struct thread_sums *ret);

#endif
