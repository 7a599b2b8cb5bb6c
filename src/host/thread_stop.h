/* SPDX-License-Identifier: MIT */
/*
 * Thread pointers by stopping each thread for a moment: the last resort, where
 * neither the kernel's iterator nor the target's own lists tell them.
 *
 * A stop costs the target tens of microseconds, milliseconds on a busy host,
 * and can end a system call early; so what it took is counted.  The stops are made from
 * a thread of our own that ends before the call returns: the kernel
 * then lets go of whatever it held, so no target stays stopped, whatever happens.
 *
 * A thread is known by its number and its process.  A number that another process's
 * thread has by now is not stopped: a thread that is held keeps its number, so who it is
 * is asked once it is held, before it is interrupted.
 */
#ifndef HOST_THREAD_STOP_H
#define HOST_THREAD_STOP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How far it came; the step that failed, or STOP_DONE. */
enum stop_step {
	STOP_NOT_TRIED, /* the time for all was used up, or no thread of ours could be started */
	STOP_SEIZE,
	STOP_INTERRUPT,
	STOP_WAIT, /* error -ETIMEDOUT: it does not stop, for example in an uninterruptible wait */
	STOP_REGISTERS,
	STOP_DONE,
};

struct stopped_thread {
	pid_t tid; /* to be set by the caller; in our PID namespace */
	enum stop_step step;
	int error;	  /* negative errno of the step that failed, or 0 */
	uint64_t pointer; /* only for STOP_DONE */
	uint64_t held_ns; /* from asking it to stop until it was let go */
};

struct stop_limits {
	unsigned thread_ms; /* for one thread to stop */
	unsigned total_ms;  /* for all of them */
};

/*
 * Fills every item; `process` is the directory fd of the process that the threads are
 * of: one that is not (any longer) has the error -ESRCH.  Returns 0 even when single threads failed; -EAGAIN or
 * -ENOMEM when no thread of ours could be started.
 */
int thread_stop_read(int process, struct stopped_thread *threads, size_t count,
		     const struct stop_limits *limits);

#endif
