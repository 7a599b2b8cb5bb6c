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
	char message[4096 + 512]; /* room for a path and a sentence about it */
	/* The part of a person's text that has the mistake; "" for none. */
	char excerpt[81];
	size_t caret; /* bytes before the mistake; at the end when something is missing */
};

/* Keeps the sentence and returns `code` (a negative errno), so that it can end a function. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Says where in a person's text the mistake is, `position` bytes from its start.  It puts the
 * number of the character in front of the sentence, and keeps an excerpt for the caret to point
 * into.  Call it right after error_set(), with the same `code`, which it returns.
 */
int error_mark(struct error *error, int code, const char *text, size_t position);

#endif
