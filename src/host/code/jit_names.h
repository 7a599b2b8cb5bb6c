/* SPDX-License-Identifier: MIT */
/*
 * The functions of processes whose code a JIT compiler made, from the perf-PID.map that each writes
 * into the /tmp that it sees.
 *
 * A file is read while its process lives, and what was read is kept.  It must be a plain file that
 * belongs to the process's user, since anyone can make one in /tmp.
 */
#ifndef HOST_CODE_JIT_NAMES_H
#define HOST_CODE_JIT_NAMES_H

#include <stdint.h>

struct code;
struct jit_names;

/* Whose files are kept, of root and our own, and of all others; further ones have no such names. */
#define JIT_PROCESSES_MAX 256

/* NULL when there is no memory. */
struct jit_names *jit_names_new(const struct code *code);
void jit_names_free(struct jit_names *names); /* NULL is allowed */

/*
 * The name of the function at an address of a process, or NULL.  Where it is not known yet and the
 * process lives, reads what was added to its file, but not at every call.  The text is valid until
 * the next call.  `start_ns` tells one process from another with the same pid; 0: not known.
 */
const char *jit_names_find(struct jit_names *names, int32_t pid, uint64_t start_ns,
			   uint64_t address);

#endif
