/* SPDX-License-Identifier: MIT */
/*
 * Reads a file line by line, however long the file is.
 */
#ifndef STORE_RUN_LINES_H
#define STORE_RUN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/text.h"

/* No line of a run is nearly as long. */
#define RUN_LINE_MAX ((size_t)64 << 20)

struct run_lines {
	FILE *in;
	struct text line;
	uint64_t number; /* of the line in hand, or of the one that could not be read; from 1 */
	bool complete;	 /* it ended with a newline */
};

/*
 * 1 and the next line without its newline in `line`, 0 at the end, -EFBIG for a line that is
 * longer than RUN_LINE_MAX, or another negative errno.
 */
int run_lines_next(struct run_lines *lines);
void run_lines_free(struct run_lines *lines); /* does not close `in` */

#endif
