/* SPDX-License-Identifier: MIT */
/*
 * This room looks at the system calls of processes: a summary from BPF, which stops nobody, and a
 * full trace by strace.
 *
 *	call_summary.c	sums calls for a while
 *	full_trace.c	strace, to the terminal and a file
 *	line_writer.c	an output that never makes others wait
 *	targets.c	the processes, held by pidfds
 *	interrupt.c	Ctrl-C
 */
#ifndef SESSION_CALL_SUMMARY_H
#define SESSION_CALL_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "model/syscall/call_lines.h"
#include "trace/calls/calls.h"

struct error;
struct host;

struct call_summary {
	struct call_lines lines; /* sorted */
	struct calls_losses losses;
	uint64_t duration_ns; /* as long as it was watched */
};

void call_summary_clear(struct call_summary *summary);

/*
 * Sums the calls of these processes until the time is over (0: no limit), all of them have ended, or
 * Ctrl-C.  0, or a negative errno with a sentence.
 */
int call_summary_take(const struct host *host, const int32_t *pids, size_t count,
		      uint64_t duration_ns, struct call_summary *ret, struct error *error);

#endif
