/*
 * Files of one line that tell something about the host.
 */
#ifndef COLLECT_HOST_LINE_H
#define COLLECT_HOST_LINE_H

#include <stdbool.h>

struct source_tally;

/* More than the longest of them, the kernel's command line, can have. */
#define HOST_LINE_SIZE 8192

/*
 * Reads the first line of a file below directory fd `dir`, without its newline
 * and blanks before that.  False when there is no such file, it cannot be read,
 * or the line is empty.  What could not be read although it is there counts as a
 * failure; `tally` may be NULL.
 */
bool host_line_read(struct source_tally *tally, int dir, const char *path,
		    char ret[HOST_LINE_SIZE]);

#endif
