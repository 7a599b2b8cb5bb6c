/* SPDX-License-Identifier: MIT */
/* What both ways to ask the oracle share; a part of host/oracle.h. */
#ifndef HOST_ORACLE_START_H
#define HOST_ORACLE_START_H

#include <sys/types.h>

struct error;
struct oracle_file;

/*
 * Keeps jemalloc from trying to start threads: they are refused here, and it aborts when it cannot
 * start the one of a further arena.  The name of the variable has the prefix of the functions.
 */
#define ORACLE_ENVIRONMENT                                                                         \
	"MALLOC_CONF=background_thread:false", "JE_MALLOC_CONF=background_thread:false",           \
		"_RJEM_MALLOC_CONF=background_thread:false"

/* An empty file without a name that can be executed: an fd, or a negative errno. */
int oracle_make_file(void);

/*
 * In the child, with all our rights: opens what is to be asked, if it is trusted, in the place of
 * `fd`, which is a file of oracle_make_file().  It is run later without any rights: unless
 * everybody has the rights `needed` to it, it is copied into that file, which is sealed then.
 */
int oracle_open_file(const struct oracle_file *file, mode_t needed, int fd);

/* Executes program_fd of the limits.  Returns only on failure: a negative errno. */
int oracle_execute(int program_fd, char *const *arguments, char *const *environment);

/* The sentence for a failure, "library" or "program"; returns `status`. */
int oracle_explain(int status, const char *what, struct error *error);

#endif
