/*
 * JSON lines on their way out: collected in memory, written as whole lines at least every second.
 *
 * A file that is cut off by the end of this program is readable up to there.  Lines that cannot be
 * written are counted; a file that has no room keeps whole lines only, and gets further ones when
 * it has room again.  A pipe that failed gets nothing more.
 */
#ifndef SESSION_LINES_H
#define SESSION_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* All zeros: lines go nowhere. */
struct lines {
	FILE *out;
	FILE *memory; /* what is to be written; lines are printed here */
	char *buffer;
	size_t length;
	uint64_t pending; /* lines in it */
	bool is_file;	  /* what was written in vain can be taken back */
	off_t good;	  /* end of the last whole line in it */
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

/* Writes what has waited for a second. */
void lines_tick(struct lines *lines, uint64_t now_ns);
/* Writes all there is.  0 or the first error so far. */
int lines_flush(struct lines *lines);

#endif
