/*
 * One sentence for a person: what failed, on what, why, what to do.
 *
 * Functions whose failure a person must understand take a struct error and fill
 * it; the command line prints it.  Only the first error is kept: it is the cause.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

struct error {
	char message[4096 + 512]; /* a path and what is said of it */
};

/* Keeps the sentence and returns `code` (a negative errno), so that it can end a function. */
int error_set(struct error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
