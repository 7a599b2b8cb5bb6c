/* SPDX-License-Identifier: MIT */
/*
 * Children that look at files that strangers made, which may be corrupt on
 * purpose, and that run code which is not ours.
 *
 * A confined process has no capability and no way to gain one, is user 65534
 * (where we are root; else it stays who we are), is in the root directory, has
 * only the fds that it was given, has limits on memory and CPU time, and may make
 * only the system calls of a short list.  All others fail with EPERM: no sockets,
 * no signals to anyone, no new processes, no tracing, no writing to files.  One that
 * was made for another instruction set ends it.  It dies with us.
 *
 * Jobs are processes, not threads, so that a crash or a hang costs one answer.
 * Several may run at once.  Start them while we have a single thread.
 */
#ifndef HOST_CONFINE_H
#define HOST_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum confine_rules {
	CONFINE_PARSER, /* works on files that are open already, and on memory */
	/*
	 * Also opens files for reading and executes program_fd; to be traced, since its
	 * tracer is asked about each file that it maps (SECCOMP_RET_TRACE).  As root without
	 * the right to become another user this fails, while a parser goes on as it is.
	 */
	CONFINE_PROGRAM,
};

struct confine_limits {
	enum confine_rules rules;
	uint64_t memory_bytes; /* of address space; 0: no limit.  Sanitizer builds have none */
	unsigned cpu_seconds;  /* 0: no limit */
	int program_fd;	       /* CONFINE_PROGRAM only */
	const int *keep;       /* fds that stay open, besides program_fd; all others are closed */
	size_t keep_count;
	/*
	 * Runs in the child of confined_start() with all our rights, before the doors
	 * close: what must be done there and under the deadline.  0, or a negative errno
	 * that ends the job.  NULL: nothing.
	 */
	int (*prepare)(void *argument);
};

/*
 * Gives up everything but what the limits leave, and the working directory for the root.  Only in a
 * child that was forked for the job: there is no way back.  Returns 0 or a negative errno: then the
 * child is half confined and must _exit().
 */
int confine_self(const struct confine_limits *limits);

/* A child at work. */
struct confined_job {
	pid_t pid;
	int answer; /* what the child writes; readable or at its end: poll it to see who is done */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
};

/*
 * Forks a confined child that runs work(argument, answer) and exits; what it writes to the fd
 * `answer` comes back from confined_finish().  work() returns 0 or a negative errno.  Returns 0
 * and a job that must be finished, or a negative errno.  Where we were started with SIGCHLD
 * ignored, it is so no longer.
 */
int confined_start(struct confined_job *job, const struct confine_limits *limits,
		   unsigned timeout_ms, int (*work)(void *argument, int answer), void *argument);

/*
 * Takes the answer, waits until the child has ended and reaps it.  Returns 0; what work() or
 * prepare() returned; -ETIMEDOUT when the child was ended at its deadline; -EPROTO when a signal
 * ended it; -EMSGSIZE when it said more than `capacity` bytes (it is ended then).  Whatever
 * happens, what came before is in the buffer and its size in *ret_size.
 */
int confined_finish(struct confined_job *job, void *answer, size_t capacity, size_t *ret_size);

/*
 * Waits until a child of ours changes its state, as waitpid() would, but not beyond the deadline:
 * 0 and its state, -ETIMEDOUT, or another negative errno.
 */
int confined_wait(pid_t pid, uint64_t deadline_ns, int *ret_state);

/*
 * Kills and reaps a child.  One that the kernel cannot end at once (it waits for a file system
 * that does not answer) is not waited for: it is reaped when a later one is started.
 */
void confined_kill(pid_t pid);

#endif
