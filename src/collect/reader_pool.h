/* SPDX-License-Identifier: MIT */
/*
 * One file of many processes, read beside the capture and with a deadline for
 * each.
 *
 * The kernel takes the lock on a process's memory map to write some of its files,
 * and a process can sit on that lock for as long as it likes.  So threads read
 * them.  One that is not back in time is left alone and another takes its place,
 * as often as there are readers left; once all are stuck, what is asked for is
 * late at once.  Nobody waits for a stuck reader, not even exit(): it owns a share
 * of this, which lives on until it comes back.
 *
 *	reader_pool_new(&options, &pool);
 *	for each process: reader_pool_read(pool, row, dir, patience_ns);
 *	reader_pool_finish(pool);
 *
 * Answers are given, in no order, by the thread that calls these functions.
 */
#ifndef COLLECT_READER_POOL_H
#define COLLECT_READER_POOL_H

#include <stdint.h>
#include <sys/types.h>

struct reader_pool;

#define POOL_READERS 8	 /* threads that may ever be started */
#define POOL_BYTES 16384 /* of a file, with a NUL at its end; a longer one is -EFBIG */

struct pool_answer {
	uint32_t tag;
	ssize_t length; /* a negative errno when it failed; -ETIMEDOUT when it was late */
	const char *text;
	int64_t took_ns; /* with opening the file; 0 when it was late */
};

struct pool_options {
	const char *file; /* below the directory of each process; static */
	unsigned at_once; /* reads that may be under way, 1 to POOL_READERS */
	/* 0, or a negative errno that reader_pool_finish() gives back. */
	int (*answer)(void *context, const struct pool_answer *answer);
	void *context;
};

/* Returns 0 and what is to be finished, or a negative errno. */
int reader_pool_new(const struct pool_options *options, struct reader_pool **ret);

/*
 * Asks for the file below directory fd `dir`, which is taken over and closed; it is
 * late after `patience_ns`.
 */
void reader_pool_read(struct reader_pool *pool, uint32_t tag, int dir, int64_t patience_ns);

/* Waits for what is under way.  0, or the first failure of an answer. */
int reader_pool_finish(struct reader_pool *pool);

#endif
