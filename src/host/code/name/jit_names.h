/* SPDX-License-Identifier: MIT */
/*
 * The functions of processes whose code a JIT compiler made, from the perf-PID.map that each writes
 * into the /tmp that it sees.
 *
 * A file is read while its process lives, and what was read is kept.  It must be a plain file that
 * belongs to the process's user, since anyone can make one in /tmp, and younger than the program: the one that the
 * process ran before may have left one.
 */
#ifndef HOST_CODE_JIT_NAMES_H
#define HOST_CODE_JIT_NAMES_H

#include <stdint.h>

struct address_space;
struct code;
struct jit_names;

#define JIT_PROCESSES_MAX                                                                          \
	512 /* whose files are kept, half of them strangers'; further ones have no such names */
#define JIT_PROCESSES_SHARE (JIT_PROCESSES_MAX / 16) /* of one stranger */

/* NULL when there is no memory. */
struct jit_names *jit_names_new(struct code *code);
void jit_names_free(struct jit_names *names); /* NULL is allowed */

/*
 * The name of the function at an address of a program, or NULL.  Where it is not known yet and the
 * process lives, reads what was added to its file, but not at every call.  The text is valid until
 * the next call.
 */
const char *jit_names_find(struct jit_names *names, const struct address_space *space,
			   uint64_t address);

#endif
