/* SPDX-License-Identifier: MIT */
/*
 * Finds where a jemalloc without debug information keeps its counters, by running its code: it is
 * started in a process of its own, where its mallctl() returns the address of the calling thread's
 * counters.
 *
 * Only code of trusted users is run: root and the user who runs us (host/confine/trusted_file.h
 * says which files are theirs).  That holds for the file that is asked and for every file that it
 * loads: its loader and its libraries, wherever the search for them leads.  No option makes it run
 * anyone else's code.
 *
 * Nevertheless the code runs confined (host/confine/confine.h, CONFINE_PROGRAM), with an
 * environment that we set and with a time limit, and it ends before any main() but that of our
 * helper.  Its answer is checked to be plausible.
 *
 * Both functions return 0 or a negative errno: -EKEYREJECTED (it, or code that it needs, is not
 * trusted), -ETIMEDOUT, -EBUSY (late, but the CPUs were too busy to blame it for that), -EPROTO (it
 * crashed), -EFBIG (larger than ORACLE_FILE_MAX), -ENODATA (it ran and did not answer), -ENOSYS (it
 * has no mallctl function), -ERANGE (the counters are not in its TLS), -EBADMSG (not an ELF file of
 * this machine), -ENOENT (a library that it needs is missing), -ECHILD (it ended before its main
 * function), or what made it impossible to start.
 */
#ifndef HOST_ORACLE_H
#define HOST_ORACLE_H

#include <stdint.h>

#include "host/oracle/tsd_layout.h"

struct stat;

#define ORACLE_FILE_MAX ((uint64_t)256 << 20) /* bytes of a file that is copied */

/* A file that a process has mapped. */
struct oracle_file {
	const char *path;	   /* where it is expected in our own mount namespace */
	const struct stat *mapped; /* it is used only if it is this same file, unchanged */
};

/*
 * Asks a shared library: the offsets count from the start of its TLS block.  It is preloaded into
 * a helper of ours.  `mallctl` is the name of the function when it is neither of mallctl,
 * je_mallctl, _rjem_mallctl; else NULL.
 */
int oracle_ask_library(const struct oracle_file *file, const char *mallctl, unsigned timeout_ms,
		       struct tsd_layout *ret);

/*
 * Asks an executable, dynamic or static: the offsets count from the thread pointer (on x86-64 they
 * are negative, as 64-bit numbers).  It is run up to main(), made to call its own mallctl() there,
 * and killed.  The addresses are those of its ELF file: the entry point, and the symbols main and
 * mallctl (or je_mallctl, _rjem_mallctl, ...).
 */
struct oracle_program {
	struct oracle_file file;
	uint64_t entry;
	uint64_t main;	  /* 0: unknown, refused with -EINVAL */
	uint64_t mallctl; /* likewise */
};

int oracle_ask_program(const struct oracle_program *program, unsigned timeout_ms,
		       struct tsd_layout *ret_from_thread_pointer);

#endif
