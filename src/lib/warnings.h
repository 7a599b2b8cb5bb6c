/* SPDX-License-Identifier: MIT */
/*
 * What went wrong with the start itself.  It is kept until somebody may print it: the program's own
 * log function must not be called with a lock of ours.
 */
#ifndef LIB_WARNINGS_H
#define LIB_WARNINGS_H

#include "lib/output.h"

enum {
	WARNINGS = 12, /* a variable has one at most, and there are few other reasons */
	WARNING_SIZE = 200,
};

struct warnings {
	unsigned int count;
	char texts[WARNINGS][WARNING_SIZE];
};

/* Cut where there is no more room; one too many is left out. */
__attribute__((format(printf, 2, 3))) void warnings_add(struct warnings *warnings,
							const char *format, ...);
/* See output_open(); that the file cannot be had is one more warning. */
void warnings_open_output(struct warnings *warnings, struct output *output,
			  const struct control *options, uint64_t *lost_lines);
/* One line each; then there are none. */
void warnings_print(struct warnings *warnings, struct output *output);

#endif
