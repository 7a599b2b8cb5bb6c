/* SPDX-License-Identifier: MIT */
/*
 * Where a jemalloc without debug information keeps its counters, asked of the
 * very code: it is started in a process of its own and its mallctl() tells the
 * address of the counters of the thread that calls it.
 *
 * This runs foreign code.  It runs confined (host/confine.h, CONFINE_PROGRAM),
 * with an environment of our own, at most ORACLE_TIMEOUT_MS, and it ends before
 * any main() of a stranger.  What it answers is a stranger's claim: checked to
 * be plausible here, and for the reader of the counters still hostile.
 *
 * Both functions return 0 or a negative errno, and then one sentence in `error`:
 * -ETIMEDOUT, -EPROTO (it crashed), -EFBIG (larger than ORACLE_FILE_MAX), -ENODATA
 * (it ran and did not answer), -ERANGE (the counters are not in its TLS), -EBADMSG
 * (not an ELF file of this machine), or what made it impossible to start.
 */
#ifndef HOST_ORACLE_H
#define HOST_ORACLE_H

#include <stdint.h>

#include "host/tsd_layout.h"

struct error;

#define ORACLE_TIMEOUT_MS 2000
#define ORACLE_FILE_MAX ((uint64_t)256 << 20) /* bytes of a file that is copied */

/*
 * A shared library, open for reading: the offsets count from the start of its
 * TLS block.  A copy of it is preloaded into a helper of ours.  `mallctl` is the
 * name of the function when it is neither of mallctl, je_mallctl, _rjem_mallctl;
 * else NULL.
 */
int oracle_ask_library(int fd, const char *mallctl, struct tsd_layout *ret, struct error *error);

/*
 * An executable, dynamic or static, open for reading: the offsets count from the
 * thread pointer (on x86-64 they are negative, as 64-bit numbers).  It is run up
 * to main(), made to call its own mallctl() there, and killed.  The addresses are
 * those of its ELF file: the entry point, and the symbols main and mallctl (or
 * je_mallctl, _rjem_mallctl, ...).
 *
 * A program that anyone may execute runs as the file that it is, so that it finds
 * libraries beside itself; another one as a copy.
 */
struct oracle_program {
	int fd;
	uint64_t entry;
	uint64_t main;	  /* 0: unknown, refused with -EINVAL */
	uint64_t mallctl; /* likewise */
};

int oracle_ask_program(const struct oracle_program *program,
		       struct tsd_layout *ret_from_thread_pointer, struct error *error);

#endif
