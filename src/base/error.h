/* SPDX-License-Identifier: MIT */
/*
 * One sentence for a person: what failed, on what, why, what to do.
 *
 * Functions whose failure a person must understand take a struct error and fill
 * it; the command line prints it.  Only the first error is kept: it is the cause.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stddef.h>

struct error {
	char message[4096 + 512]; /* a path and what is said of it */
	/* Of a text that a person wrote: the part with the mistake, "" for none. */
	char excerpt[81];
	size_t caret; /* bytes of the excerpt before the mistake; at its end when something is missing */
};

/* Keeps the sentence and returns `code` (a negative errno), so that it can end a function. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Says where in a person's text the mistake is, `position` bytes from its start:
 * the sentence begins with the number of the character, and the caret gets an
 * excerpt to point into.  For right after error_set(), whose code it takes and returns.
 */
int error_mark(struct error *error, int code, const char *text, size_t position);

#endif
