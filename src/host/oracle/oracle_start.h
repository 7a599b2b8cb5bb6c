/* SPDX-License-Identifier: MIT */
/* The files that are run or preloaded; a part of host/oracle/oracle.h. */
#ifndef HOST_ORACLE_START_H
#define HOST_ORACLE_START_H

#include <sys/types.h>

struct oracle_file;

/* Makes an empty, unnamed file that can be executed: an fd, or a negative errno. */
int oracle_make_file(void);

/*
 * Runs in the child, with all our rights: opens the file to be asked, if it is trusted, and puts
 * it in the place of `fd`, which is from oracle_make_file().  It is run later without any rights.
 * So unless everybody has the rights `needed` to it, it is copied into the file of `fd`, which is
 * then sealed.
 */
int oracle_open_file(const struct oracle_file *file, mode_t needed, int fd);

#endif
