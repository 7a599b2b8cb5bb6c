/* SPDX-License-Identifier: MIT */
/*
 * A pool of threads that read files of many processes beside the capture, with a deadline for each
 * read.
 *
 * For some reads the kernel takes the lock on a process's memory map, and a process can hold that
 * lock for as long as it likes.  So threads (readers) do these reads.  When a reader takes long,
 * another one is started to help.  A request that is not answered in time is late; once all
 * readers are stuck, all waiting requests are late at once.  Nobody waits for a stuck reader, not
 * even exit(): it owns a share of the pool, which lives on until the reader returns.
 *
 *	reader_pool_new(&options, &pool);
 *	for each process: reader_pool_read(pool, &request);
 *	reader_pool_finish(pool);
 *
 * The pool calls answer() in the order of the requests, on the thread that calls these functions.
 */
#ifndef COLLECT_READER_POOL_H
#define COLLECT_READER_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct reader_pool;

#define POOL_READERS 8	 /* threads that may ever be started */
#define POOL_STUCK 64	 /* reads of all pools that nobody waits for any more */
#define POOL_BYTES 16384 /* of an answer, with a NUL at its end; a longer file is -EFBIG */

struct pool_request {
	uint32_t tag;
	int dir; /* taken over and closed; negative for the directory of the pool */
	int32_t pid;
	int64_t patience_ns; /* it is late when reading takes longer than this */
	int flags; /* set by the pool, for open(): not to wait at a pipe in a recorded tree */
};

struct pool_answer {
	uint32_t tag;
	ssize_t length; /* a negative errno when it failed; -ETIMEDOUT when it was late */
	const char *text;
	int64_t took_ns; /* 0 when it was late */
};

struct pool_options {
	/*
	 * Runs on a reader's thread and may block.  Fills the buffer; returns its length or a
	 * negative errno.
	 */
	ssize_t (*read)(const struct pool_request *request, char buffer[POOL_BYTES]);
	int dir;	   /* of requests that have none; copied.  Negative when all have one */
	bool is_direct;	   /* a recorded tree has no locks: the caller's thread reads, at once */
	unsigned at_once;  /* readers that work at the same time, 1 to POOL_READERS */
	unsigned room;	   /* requests that may be open before reader_pool_read() waits */
	int64_t help_ns;   /* a reader that takes longer no longer counts in at_once */
	int64_t budget_ns; /* for all waits together: what is open after that is late */
	/* Returns 0, or a negative errno that reader_pool_finish() will return. */
	int (*answer)(void *context, const struct pool_answer *answer);
	void *context;
};

/* Returns 0 and a pool that must be ended by reader_pool_finish(), or a negative errno. */
int reader_pool_new(const struct pool_options *options, struct reader_pool **ret);
void reader_pool_read(struct reader_pool *pool, const struct pool_request *request);

/* Waits for the open requests.  0, -ENOMEM, or the first failure of an answer. */
int reader_pool_finish(struct reader_pool *pool);

/* For read functions: a whole file below the request's directory. */
ssize_t pool_read_file(const struct pool_request *request, const char *file,
		       char buffer[POOL_BYTES]);

#endif
