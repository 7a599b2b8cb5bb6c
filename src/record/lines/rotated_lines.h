/* SPDX-License-Identifier: MIT */
/*
 * JSON lines in a file that is rotated: when it is full it becomes NAME.1, NAME.1 becomes NAME.2,
 * and so on, and a new file begins.  Whoever follows the file sees a new inode and goes on there.
 */
#ifndef RECORD_ROTATED_LINES_H
#define RECORD_ROTATED_LINES_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/output/lines.h"
#include "record/lines/line_shares.h"

struct error;

/* All zeros: lines go nowhere. */
struct rotated_lines {
	struct lines lines;
	const char *path;
	FILE *out;
	uint64_t most_bytes;
	unsigned kept; /* older files */
	uint64_t failures;
	struct line_shares shares;
	struct line_user *user; /* whose line is being printed; NULL: nobody's */
};

/* Goes on in an existing file.  0, or a negative errno with a sentence. */
int rotated_lines_open(struct rotated_lines *ret, const char *path, uint64_t most_bytes,
		       unsigned kept, struct error *error);
void rotated_lines_close(struct rotated_lines *lines);

/* Where to print one line, or NULL when lines go nowhere; then rotated_lines_end(). */
FILE *rotated_lines_begin(struct rotated_lines *lines);
/* The same for a line of a user; NULL also when the user has written too much: the line is counted then. */
FILE *rotated_lines_begin_of(struct rotated_lines *lines, int64_t uid);
void rotated_lines_end(struct rotated_lines *lines);

/* Writes what was printed, and rotates when the file is full.  0, or the first error since the last call. */
int rotated_lines_flush(struct rotated_lines *lines);

#endif
