/* SPDX-License-Identifier: MIT */
/*
 * A full trace of processes, and of all that they start, by strace: to standard output and to a file.
 *
 * What strace writes is always read.  When our own output is not taken, lines are left out and counted
 * (line_writer.h); the targets do not wait for it.
 */
#ifndef SESSION_FULL_TRACE_H
#define SESSION_FULL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct host;

struct full_trace_options {
	const int32_t *pids;
	size_t count;
	const char *expression; /* of strace -e; NULL: none */
	const char *file;	/* also written there; NULL: none */
	uint64_t duration_ns;	/* 0: until Ctrl-C, or the end of the processes */
	bool is_quiet;		/* nothing to standard output */
};

/* What was not written. */
struct full_trace_losses {
	uint64_t shown, kept; /* lines left out on standard output, and in the file */
};

/* The first line of a trace. */
extern const char full_trace_warning[];

/*
 * 0, or a negative errno with a sentence: -ENOENT when strace is not installed, -EPERM, -ESRCH and
 * -EBUSY when a process cannot be traced, -EPIPE when nobody takes the trace any more.
 */
int full_trace_run(const struct host *host, const struct full_trace_options *options,
		   struct full_trace_losses *ret, struct error *error);

#endif
