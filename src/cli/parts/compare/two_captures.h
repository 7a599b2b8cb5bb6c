/* SPDX-License-Identifier: MIT */
/*
 * Two captures of this host with some time between them.
 */
#ifndef CLI_TWO_CAPTURES_H
#define CLI_TWO_CAPTURES_H

#include <stdbool.h>
#include <stdint.h>

struct capture_args;
struct error;
struct snapshot;

/*
 * Captures, waits, and captures again.  An interrupt ends the waiting; a second
 * one ends the program.  The progress is shown on standard error if that is a
 * terminal.  Processes of -p that ended meanwhile are left out of the second
 * capture.  What a filter leaves out is still in them.  The caller frees both, also the first when
 * the second fails.
 */
int two_captures_take(const struct capture_args *args, uint64_t wait_ns, struct snapshot **first,
		      struct snapshot **second, struct error *error);

/* The same as one interval, which ends now. */
int two_captures_interval(const struct capture_args *args, uint64_t wait_ns, struct snapshot **ret,
			  struct error *error);

/*
 * Waits until this time since boot; with progress, a terminal on standard error says for how long.
 * Returns whether an interrupt ended it early.
 */
bool two_captures_wait(uint64_t deadline_ns, bool shows_progress);

#endif
