/* SPDX-License-Identifier: MIT */
/*
 * This room runs confined children: processes without rights that parse files which may be
 * hostile, or run code that is not ours.
 *
 * A confined process (but see CONFINE_DRIVER) has no capability and no way to gain one, is user 65534 (where we are root;
 * else it stays who we are), is in the root directory, has only the fds that it was given, has
 * limits on memory and CPU time, and may make only the system calls of a short list.  All others
 * fail with EPERM: no sockets, no signals to anyone, no new processes, no tracing, no writing to
 * files.  A system call of another instruction set kills the process.  A confined process dies
 * when we do.
 *
 * Jobs are processes, not threads, so that a crash or a hang costs one answer.  Several may run at
 * once.  Start them while we have a single thread.
 */
#ifndef HOST_CONFINE_H
#define HOST_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum confine_rules {
	CONFINE_PARSER, /* works on files that are already open, and on memory */
	/*
	 * Also receives messages, with open files in them, from a socket that it was given.  It
	 * lives long, and answers many questions.
	 */
	CONFINE_SERVICE,
	/*
	 * Also opens files for reading and executes program_fd.  Must be traced, since its tracer
	 * is asked about each file that it maps (SECCOMP_RET_TRACE).  If we are root but may not
	 * become another user, this fails, while a parser then stays root, without capabilities.
	 */
	CONFINE_PROGRAM,
	/*
	 * Executes program_fd, which is trusted and asks a driver: it may make every system call, and
	 * root stays root.  It has no capability of ours otherwise, none of our files, and dies with us.
	 */
	CONFINE_DRIVER,
};

struct confine_limits {
	enum confine_rules rules;
	uint64_t memory_bytes; /* of address space; 0: no limit.  Sanitizer builds have none */
	uint64_t own_bytes;    /* of memory of its own, without mapped files; as memory_bytes */
	unsigned cpu_seconds;  /* 0: no limit */
	int program_fd;	       /* CONFINE_PROGRAM and CONFINE_DRIVER */
	const int *keep;       /* fds that stay open, besides program_fd; all others are closed */
	size_t keep_count;
	/*
	 * Runs in the child of confined_start() with all our rights, before they are given up, for
	 * work that needs them and must be under the deadline.  Returns 0, or a negative errno
	 * that ends the job.  NULL: nothing to do.
	 */
	int (*prepare)(void *argument);
};

/*
 * Gives up everything but what the limits leave and the fd `answer`, and changes the working directory to the root.
 * Only in a child that was forked for the job: there is no way back.  Returns 0 or a negative
 * errno: then the child is half confined and must _exit().
 */
int confine_self(const struct confine_limits *limits, int answer);

/*
 * Only for confine_self(): makes seccomp refuse all system calls but those that the rules allow,
 * also after execve.  Returns 0 or a negative errno.
 */
int confine_filter_install(const struct confine_limits *limits);

/* A running child. */
struct confined_job {
	pid_t pid;
	int answer;	      /* what the child writes; poll() it to see which jobs are done */
	uint64_t deadline_ns; /* CLOCK_MONOTONIC */
};

/*
 * Forks a confined child that runs work(argument, answer) and exits; what it writes to the fd
 * `answer` comes back from confined_finish().  work() returns 0 or a negative errno.  Returns 0
 * and a job that must be finished, or a negative errno.  If SIGCHLD was ignored, it is no longer.
 */
int confined_start(struct confined_job *job, const struct confine_limits *limits,
		   unsigned timeout_ms, int (*work)(void *argument, int answer), void *argument);

/*
 * Reads the answer, waits until the child has ended and reaps it.  Returns 0; what work() or
 * prepare() returned; -ETIMEDOUT when the child was killed at its deadline; -EPROTO when a signal
 * ended it; -EMSGSIZE when it wrote more than `capacity` bytes (then it is killed).  In all cases
 * the buffer has what came before, and *ret_size its size.
 */
int confined_finish(struct confined_job *job, void *answer, size_t capacity, size_t *ret_size);

/*
 * Starts a child and waits for its answer, which must have `size` bytes.  Errors as those of the
 * two functions; -EPROTO when the answer has another size.
 */
int confined_ask(const struct confine_limits *limits, unsigned timeout_ms,
		 int (*work)(void *argument, int answer), void *argument, void *ret, size_t size);

/* Moves an fd above the standard streams, which a confined child closes.  The fd, or a negative errno. */
int confined_move_up(int fd);

/* An empty file in memory, to be filled with a program and executed.  An fd, or a negative errno. */
int confined_make_file(const char *name);

/*
 * Kills and reaps a child.  A child that the kernel cannot end at once, since it waits for a file
 * system that does not answer, is not waited for: it is reaped when a later child is started.
 */
void confined_kill(pid_t pid);

#endif
