/* SPDX-License-Identifier: MIT */
/* What asking a library and asking a program have in common; a part of host/oracle/oracle.h. */
#ifndef HOST_ORACLE_START_H
#define HOST_ORACLE_START_H

#include <sys/types.h>

struct error;
struct oracle_file;

/*
 * Keeps jemalloc from starting background threads: they are refused here, and jemalloc aborts when
 * it cannot start the thread of a further arena.  The variable's name has the same prefix as
 * jemalloc's functions.
 */
#define ORACLE_ENVIRONMENT                                                                         \
	"MALLOC_CONF=background_thread:false", "JE_MALLOC_CONF=background_thread:false",           \
		"_RJEM_MALLOC_CONF=background_thread:false"

/* Makes an empty, unnamed file that can be executed: an fd, or a negative errno. */
int oracle_make_file(void);

/*
 * Runs in the child, with all our rights: opens the file to be asked, if it is trusted, and puts
 * it in the place of `fd`, which is from oracle_make_file().  It is run later without any rights.
 * So unless everybody has the rights `needed` to it, it is copied into the file of `fd`, which is
 * then sealed.
 */
int oracle_open_file(const struct oracle_file *file, mode_t needed, int fd);

/*
 * Executes `program_fd`, which must be that of the limits.  Returns only on failure: a negative
 * errno.
 */
int oracle_execute(int program_fd, char *const *arguments, char *const *environment);

/* Sets the sentence for a failure; `what` is "library" or "program".  Returns `status`. */
int oracle_explain(int status, const char *what, struct error *error);

#endif
