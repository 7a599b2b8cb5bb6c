/* SPDX-License-Identifier: MIT */
/* Reads files of one line that say something about the host. */
#ifndef COLLECT_HOST_LINE_H
#define COLLECT_HOST_LINE_H

struct source_tally;

/* Larger than the longest of them, the kernel's command line. */
#define HOST_LINE_SIZE 8192

/*
 * Reads the first line of a file below directory fd `dir` (-1: there is no directory), without its
 * newline and trailing blanks.  Returns 0, -ENODATA when the line is empty, or the errno of
 * reading.  Counts a failure if the file exists but could not be read; `tally` may be NULL.
 */
int host_line_read(struct source_tally *tally, int dir, const char *path, char ret[HOST_LINE_SIZE]);

#endif
