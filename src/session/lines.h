/* SPDX-License-Identifier: MIT */
/*
 * JSON lines on their way out: collected in memory, written as whole lines LINES_WAIT_NS later at most,
 * many at once.
 *
 * A file that is cut off by the end of this program is readable up to there.  Lines that cannot be
 * written are counted; a file that has no room keeps whole lines only, and gets further ones when
 * it has room again, unless others wrote behind what would have to be cut off.  Room for the last
 * line is kept behind its end from the start.
 *
 * A reader of a pipe is never waited for before the end: what it does not take stays in memory up
 * to a limit, and lines beyond are lost.  A pipe that failed gets nothing more.
 */
#ifndef SESSION_LINES_H
#define SESSION_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

#define LINES_WAIT_NS UINT64_C(20000000)

/* All zeros: lines go nowhere. */
struct lines {
	FILE *out;
	FILE *memory; /* what is to be written; lines are printed here */
	char *buffer;
	size_t length;
	uint64_t pending;    /* lines in it */
	int fd;		     /* of `out` */
	bool is_file;	     /* what was written in vain can be taken back */
	size_t kept;	     /* bytes of room behind what is written; 0: none could be had */
	bool is_last;	     /* the last line is being written: `kept` may be used */
	struct text backlog; /* of all but files: what waits for a reader */
	size_t sent;	     /* bytes of it that it has already */
	bool broken;
	uint64_t flushed_ns;
	uint64_t lost;
	int error; /* the first one: a negative errno */
};

/* Borrows `out`, which may be NULL.  0 or -ENOMEM. */
int lines_open(struct lines *lines, FILE *out);
void lines_close(struct lines *lines);

/* Where to print one line, or NULL when nobody wants it; then lines_end(). */
FILE *lines_begin(struct lines *lines);
void lines_end(struct lines *lines);

/* Writes what is due, and what the reader takes of the rest. */
void lines_tick(struct lines *lines, uint64_t now_ns);
/* When that is to be done next; UINT64_MAX when nothing waits. */
uint64_t lines_due_ns(const struct lines *lines);
/* Writes all that can be written without waiting.  0 or the first error so far. */
int lines_flush(struct lines *lines);
/* Writes all there is, unless the reader takes nothing for so long. */
int lines_finish(struct lines *lines, int patience_ms);

/*
 * Before the last line: the room that was kept is for it from now on.  lines_fit() tells whether what
 * was printed since the last lines_end() can be written; lines_withdraw() takes it back.
 */
void lines_use_room(struct lines *lines);
bool lines_fit(struct lines *lines);
void lines_withdraw(struct lines *lines);

/* What becomes writable when a reader took something that lines wait for, or -1. */
int lines_awaited_fd(const struct lines *lines);

#endif
