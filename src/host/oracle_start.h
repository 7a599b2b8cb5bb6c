/* SPDX-License-Identifier: MIT */
/* What both ways to ask the oracle share; a part of host/oracle.h. */
#ifndef HOST_ORACLE_START_H
#define HOST_ORACLE_START_H

#include <stddef.h>
#include <stdint.h>

struct confine_limits;
struct error;

/*
 * Keeps jemalloc from trying to start threads: they are refused here, and it aborts when it cannot
 * start the one of a further arena.  The name of the variable has the prefix of the functions.
 */
#define ORACLE_ENVIRONMENT                                                                         \
	"MALLOC_CONF=background_thread:false", "JE_MALLOC_CONF=background_thread:false",           \
		"_RJEM_MALLOC_CONF=background_thread:false"

/* An empty file without a name that can be executed: an fd, or a negative errno. */
int oracle_make_file(void);

/* Whether it is an ELF file of this machine: 0, -EBADMSG, or what reading it gave. */
int oracle_check_file(int fd);

/* Copies a whole file into an empty one of ours, which then stays as it is for ever. */
int oracle_copy_file(int from, int to);

struct confine_limits oracle_limits(int program_fd);

/* Executes program_fd of the limits.  Returns only on failure: a negative errno. */
int oracle_execute(int program_fd, char *const *arguments, char *const *environment);

/* The sentence for a failure, "library" or "program"; returns `status`. */
int oracle_explain(int status, const char *what, struct error *error);

#endif
