/* SPDX-License-Identifier: MIT */
/*
 * Copies the stack of a thread that is blocked, without stopping it.
 *
 * Its registers come from a walk over tasks in the kernel, with the number of its switches.  As long as
 * that number has not changed, neither has the stack.
 */
#ifndef TRACE_BLOCKED_STACK_H
#define TRACE_BLOCKED_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct host;

#define BLOCKED_STACK_MAX 32768

/* What the walk said about a thread. */
struct blocked_thread {
	int32_t pid, tid;
	uint64_t switches; /* of both kinds */
	uint64_t address;  /* its stack pointer */
	size_t size;	   /* how much of the stack is wanted, up to BLOCKED_STACK_MAX */
};

/*
 * The state of a series of copies, all zeros but for the host: a process whose memory cannot be read in time is not
 * tried again, and in all they take no longer than a second.
 */
struct blocked_reader {
	const struct host *host;
	uint64_t deadline_ns; /* set by the first copy */
	int32_t stuck_pid;
};

/*
 * Copies to `ret`, which has room for BLOCKED_STACK_MAX bytes, only from pages that are in memory: a file system that
 * does not answer keeps nobody waiting.  Returns the size; -EAGAIN when the thread has run meanwhile; -ETIMEDOUT,
 * -ESRCH, -EPERM or another negative errno.
 */
ssize_t blocked_stack_copy(struct blocked_reader *reader, const struct blocked_thread *thread,
			   void *ret);

/* Adds up both kinds of switches in the text of a task's status.  -EBADMSG when they are not there. */
int status_switches(const char *text, uint64_t *ret);

#endif
