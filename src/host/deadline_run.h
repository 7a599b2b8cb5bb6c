/* SPDX-License-Identifier: MIT */
/*
 * Runs work with a deadline.  Work that may wait for another process's memory, or for a file
 * system that does not answer, runs in a thread of its own, and the caller waits no longer than it
 * said.
 */
#ifndef HOST_DEADLINE_RUN_H
#define HOST_DEADLINE_RUN_H

/*
 * Runs work(context).  Returns 0 when it is done; -ETIMEDOUT when it is not done in time: then the
 * thread owns the context, and calls release(context) if it ever ends; -EAGAIN when no thread
 * could be started and nothing was done.
 */
int deadline_run(void (*work)(void *context), void (*release)(void *context), void *context,
		 unsigned timeout_ms);

#endif
