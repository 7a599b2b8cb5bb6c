/* SPDX-License-Identifier: MIT */
/*
 * Files of one line that tell something about the host.
 */
#ifndef COLLECT_HOST_LINE_H
#define COLLECT_HOST_LINE_H

struct source_tally;

/* More than the longest of them, the kernel's command line, can have. */
#define HOST_LINE_SIZE 8192

/*
 * Reads the first line of a file below directory fd `dir` (or -1: there is none),
 * without its newline and blanks before that.  Returns 0, -ENODATA when the line is
 * empty, or why there is none.  What could not be read although it is there counts
 * as a failure; `tally` may be NULL.
 */
int host_line_read(struct source_tally *tally, int dir, const char *path, char ret[HOST_LINE_SIZE]);

#endif
