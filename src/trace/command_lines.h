/* SPDX-License-Identifier: MIT */
/*
 * Command lines of processes that were running before anybody watched.
 */
#ifndef TRACE_COMMAND_LINES_H
#define TRACE_COMMAND_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;

struct command_line {
	char *arguments; /* NUL-separated; the caller frees it */
	size_t length;
	bool cut; /* there was more */
};

/*
 * Reads one, up to TREE_ARGUMENTS_MAX bytes.  The kernel takes a lock of the process for it,
 * which that may hold for ever: then -ETIMEDOUT after `timeout_ms`.  Other failures are those
 * of open and read, -ESRCH for a process that is gone or did not begin at `start_ns` (0: not
 * known), and -ENODATA when it has none.
 */
int command_line_read(const struct host *host, int32_t pid, uint64_t start_ns, unsigned timeout_ms,
		      struct command_line *ret);

#endif
