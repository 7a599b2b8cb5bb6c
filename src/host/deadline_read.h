/* SPDX-License-Identifier: MIT */
/*
 * Reads, with a deadline, files of processes that can make a reader wait.
 *
 * To write some files of a process in proc (cmdline, environ, io, maps, smaps, stack, syscall) the
 * kernel takes locks of that process, and a process can hold these for as long as it likes.  So a
 * thread reads them.  A thread that is not back in time is left alone until it returns, and
 * another one takes its place, up to DEADLINE_READ_THREADS.  While a thread is stuck in a process,
 * further reads of that process are late at once.  Nobody waits for a thread that is late, not
 * even deadline_reader_clear().
 */
#ifndef HOST_DEADLINE_READ_H
#define HOST_DEADLINE_READ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEADLINE_READ_BYTES 16384 /* the most that a read returns, without the NUL at the end */
#define DEADLINE_READ_MS 100	  /* long enough for a busy host */

#define DEADLINE_READ_THREADS 8

struct deadline_worker;

/* For use from one thread.  All zeros is valid: threads are started when they are needed. */
struct deadline_reader {
	struct deadline_worker *workers[DEADLINE_READ_THREADS];
	size_t count;
};

void deadline_reader_clear(struct deadline_reader *reader);

/*
 * Reads the file at `path` below the directory `dir` of process `pid` into the buffer and ends it
 * with a NUL; what does not fit is cut.  Returns the number of bytes; -ETIMEDOUT when it is late;
 * -EAGAIN when no thread could be started; or another negative errno.
 */
ssize_t deadline_read(struct deadline_reader *reader, int32_t pid, int dir, const char *path,
		      char *buffer, size_t capacity);

#endif
