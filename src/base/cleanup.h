/* SPDX-License-Identifier: MIT */
/*
 * Locals that clean up after themselves.
 *
 *	CLEANUP(close_fd) int fd = open(...);
 *	CLEANUP(free_pointer) char *copy = strdup(...);
 *
 * A function that hands such a local to its caller takes it first: TAKE_FD(fd),
 * TAKE_PTR(copy).
 */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(function) __attribute__((cleanup(function)))

/* Defines function_pointer() for CLEANUP, where function() frees what a pointer points to. */
#define CLEANUP_POINTER(function, type)                                                            \
	static inline void function##_pointer(type **pointer)                                      \
	{                                                                                          \
		function(*pointer);                                                                \
	}

#define TAKE(variable, empty)                                                                      \
	({                                                                                         \
		__typeof__(variable) taken_ = (variable);                                          \
		(variable) = (empty);                                                              \
		taken_;                                                                            \
	})
#define TAKE_FD(fd) TAKE(fd, -1)
#define TAKE_PTR(pointer) TAKE(pointer, NULL)

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void free_pointer(void *pointer)
{
	free(*(void **)pointer);
}

#endif
