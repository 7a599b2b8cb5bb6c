/* SPDX-License-Identifier: MIT */
/*
 * Runs work, or waits for a child, with a deadline.  Work that may wait for another process's
 * memory, or for a file system that does not answer, runs in a thread, and the caller waits no
 * longer than it said.
 *
 * A thread that is not back in time is left alone until it returns, and another one takes its
 * place, up to DEADLINE_THREADS.  While a thread is stuck in a process, further work on that
 * process is late at once.  Nobody waits for a thread that is late, not even
 * deadline_threads_clear().
 */
#ifndef HOST_DEADLINE_RUN_H
#define HOST_DEADLINE_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEADLINE_THREADS 8
#define DEADLINE_READ_BYTES 16384 /* the most that a read returns, without the NUL at the end */
#define DEADLINE_READ_MS 100	  /* long enough for a busy host */

struct deadline_thread;

/* For use from one thread.  All zeros is valid: threads are started when they are needed. */
struct deadline_threads {
	struct deadline_thread *list[DEADLINE_THREADS];
	size_t count;
};

void deadline_threads_clear(struct deadline_threads *threads);

/*
 * Runs work(context) in a thread of its own.  Returns 0 when it is done; -ETIMEDOUT
 * when it is late: then the context is no longer the caller's, and is freed by release(context),
 * if the work ever ends; -EAGAIN when no thread could be started and nothing was done.
 */
int deadline_run(void (*work)(void *context), void (*release)(void *context), void *context,
		 unsigned timeout_ms);

/*
 * Waits until a child or a traced thread changes its state, as waitpid() does, but only until the
 * deadline (CLOCK_MONOTONIC): 0 and its state, -ETIMEDOUT, or another negative errno.
 */
int deadline_wait(pid_t pid, uint64_t deadline_ns, int *ret_state);

/*
 * Reads a file that can make a reader wait.  To write some files of a process in proc (cmdline,
 * environ, io, maps, smaps, stack, syscall) the kernel takes locks of that process, and a process
 * can hold these for as long as it likes.  Not for memory (mem): a thread that waits there for a file
 * system cannot be ended, nor can its process.
 *
 * Reads the file at `path` below the directory `dir` of process `pid` into the buffer and ends it
 * with a NUL; what does not fit is cut.  Returns the number of bytes; -ETIMEDOUT when it is late;
 * -EAGAIN when no thread could be started; or another negative errno.
 */
ssize_t deadline_read(struct deadline_threads *threads, int32_t pid, int dir, const char *path,
		      char *buffer, size_t capacity);
#endif
