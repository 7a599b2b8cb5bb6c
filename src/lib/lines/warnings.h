/* SPDX-License-Identifier: MIT */
/*
 * Warnings about the start itself.  They are kept until they can be printed, since the program's
 * log function must not be called while we hold a lock.
 */
#ifndef LIB_WARNINGS_H
#define LIB_WARNINGS_H

#include "lib/lines/output.h"

enum {
	WARNINGS = 12, /* one for each variable, and a few others */
	WARNING_SIZE = 200,
};

struct warnings {
	unsigned int count;
	char texts[WARNINGS][WARNING_SIZE];
};

/* A text that is too long is cut; a warning too many is left out. */
__attribute__((format(printf, 2, 3))) void warnings_add(struct warnings *warnings,
							const char *format, ...);
/* Calls output_open(), and adds a warning when the file cannot be opened. */
void warnings_open_output(struct warnings *warnings, struct output *output,
			  const struct control *options, uint64_t *lost_lines);
/* Prints one line for each warning, then forgets them. */
void warnings_print(struct warnings *warnings, struct output *output);

#endif
