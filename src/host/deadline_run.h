/* SPDX-License-Identifier: MIT */
/*
 * Runs work, or waits for a child, with a deadline.  Work that may wait for another process's memory, or for a file
 * system that does not answer, runs in a thread of its own, and the caller waits no longer than it
 * said.
 */
#ifndef HOST_DEADLINE_RUN_H
#define HOST_DEADLINE_RUN_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Runs work(context).  Returns 0 when it is done; -ETIMEDOUT when it is not done in time: then the
 * thread owns the context, and calls release(context) if it ever ends; -EAGAIN when no thread
 * could be started and nothing was done.
 */
int deadline_run(void (*work)(void *context), void (*release)(void *context), void *context,
		 unsigned timeout_ms);

/*
 * Waits until a child or a traced thread changes its state, as waitpid() does, but only until the
 * deadline (CLOCK_MONOTONIC): 0 and its state, -ETIMEDOUT, or another negative errno.
 */
int deadline_wait(pid_t pid, uint64_t deadline_ns, int *ret_state);

#endif
