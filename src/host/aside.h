/* SPDX-License-Identifier: MIT */
/*
 * Work that may wait for a stranger: for the memory of a target, or for a file
 * system that does not answer.  It is done in a thread of its own, and nobody waits
 * longer than was said.
 */
#ifndef HOST_ASIDE_H
#define HOST_ASIDE_H

/*
 * Runs work(context).  Returns 0 when it is done; -ETIMEDOUT when it is not:
 * then the context belongs to the thread, which calls release(context) if it ever
 * ends; or -EAGAIN when no thread could be started and nothing was done.
 */
int aside_run(void (*work)(void *context), void (*release)(void *context), void *context,
	      unsigned timeout_ms);

#endif
