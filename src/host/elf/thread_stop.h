/* SPDX-License-Identifier: MIT */
/*
 * Finds thread pointers by stopping each thread for a moment.  This is the last resort, for when
 * neither the kernel's iterator nor the target's own lists have them.
 *
 * A stop costs the target tens of microseconds, milliseconds on a busy host, and can end a system
 * call early; so the time is counted.  The stops are made from a thread of our own that ends
 * before the call returns.  When it ends, the kernel releases whatever it still holds, so no
 * target stays stopped, whatever happens.
 *
 * A thread is identified by its tid and its process.  A tid that belongs to another process's
 * thread by now is not stopped: a seized thread keeps its tid, so its process is checked after it
 * was seized and before it is interrupted.
 */
#ifndef HOST_THREAD_STOP_H
#define HOST_THREAD_STOP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The step that failed, or STOP_DONE. */
enum stop_step {
	STOP_NOT_TRIED, /* the total time was used up, or no thread of ours could be started */
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
	uint64_t held_ns; /* from asking it to stop until it was released */
};

struct stop_limits {
	unsigned thread_ms; /* for one thread to stop */
	unsigned total_ms;  /* for all of them */
};

/*
 * Fills every item.  `process` is the directory fd of the threads' process; a thread that does not
 * (or no longer) belong to it gets the error -ESRCH.  Returns 0 even when single threads failed;
 * -EAGAIN or -ENOMEM when no thread of ours could be started.
 */
int thread_stop_read(int process, struct stopped_thread *threads, size_t count,
		     const struct stop_limits *limits);

/* The thread pointer of a thread that we trace and that is stopped.  0 or a negative errno. */
int thread_pointer_read(pid_t tid, uint64_t *ret);

#endif
