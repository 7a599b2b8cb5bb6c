/* SPDX-License-Identifier: MIT */
/*
 * Writes JSON lines: collects them in memory and writes whole lines, many at once, at most
 * LINES_WAIT_NS later.
 *
 * If this program is killed, the file is readable up to there.  Lines that cannot be written, or for
 * which there is no memory, are counted.  When the disk is full, the incomplete line is cut off so that the file has whole lines
 * only (unless others wrote behind it), and writing goes on when there is room again.  Room for
 * the last line is reserved behind the end from the start.
 *
 * The reader of a pipe is not waited for before the end: what it does not take stays in memory up
 * to a limit, and further lines are lost.  Nothing more is written to a pipe that failed.
 */
#ifndef BASE_LINES_H
#define BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

#define LINES_WAIT_NS UINT64_C(20000000)

/* All zeros: lines go nowhere. */
struct lines {
	FILE *out;
	FILE *memory; /* lines are printed here first, and get into `text` */
	char buffer[4096];
	struct text text;
	size_t begun;	     /* where in `text` the line begins that is being printed */
	uint64_t pending;    /* lines in `text` */
	int fd;		     /* of `out` */
	bool is_file;	     /* an incomplete line can be cut off again */
	size_t kept;	     /* bytes reserved behind the end; 0: none */
	bool is_last;	     /* the last line is being written and may use `kept` */
	struct text backlog; /* not for files: what waits for a reader */
	size_t sent;	     /* bytes of the backlog that were written */
	bool broken;
	uint64_t flushed_ns;
	uint64_t lost;
	int error; /* the first one: a negative errno */
};

/* Borrows `out`, which may be NULL; *lines stays where it is until it is closed.  0 or -ENOMEM. */
int lines_open(struct lines *lines, FILE *out);
void lines_close(struct lines *lines);

/* Returns where to print one line, or NULL when lines go nowhere.  Call lines_end() afterwards. */
FILE *lines_begin(struct lines *lines);
void lines_end(struct lines *lines);
/* How many bytes were printed since lines_end(). */
size_t lines_printed(struct lines *lines);

/* Writes lines that are due, and as much of the backlog as the reader takes. */
void lines_tick(struct lines *lines, uint64_t now_ns);
/* When lines_tick() is to be called next; UINT64_MAX when nothing waits. */
uint64_t lines_due_ns(const struct lines *lines);
/* Writes all that can be written without waiting.  0, or the first error so far. */
int lines_flush(struct lines *lines);
/* Writes everything, but gives up when the reader takes nothing for `patience_ms`. */
int lines_finish(struct lines *lines, int patience_ms);

/*
 * For the last line: lines_use_room() lets it use the reserved room.  lines_fit() says whether
 * what was printed since the last lines_end() can be written; lines_withdraw() drops it.
 */
void lines_use_room(struct lines *lines);
bool lines_fit(struct lines *lines);
void lines_withdraw(struct lines *lines);

/* The descriptor that becomes writable when the reader has room for waiting lines, or -1. */
int lines_awaited_fd(const struct lines *lines);

#endif
