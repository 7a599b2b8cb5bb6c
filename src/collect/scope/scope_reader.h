/* SPDX-License-Identifier: MIT */
/*
 * Reads the scopes of a program that uses libtaskscope, from outside: see base/scope_layout.h.
 *
 * The program's memory is copied with pread() from a descriptor of our own.  So the program is
 * neither stopped nor waited for, and its memory may shrink, change or be nonsense.  A copy can be
 * taken as long as the reader is open, also after the process ended.
 */
#ifndef COLLECT_SCOPE_READER_H
#define COLLECT_SCOPE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct error;
struct host;
struct scopes;
struct scope_reader;

/* Where to search for the memory. */
enum scope_search {
	SCOPE_SEARCH_QUICK, /* where the library puts it; about 2 us if there is none */
	SCOPE_SEARCH_ALL,   /* also in the memory map, if the descriptor was closed or moved */
};

/*
 * Returns 0; -ENOENT, without a sentence, when the process has no scopes of its own, also when it
 * holds another process's memory, as readers do.  With a sentence: -ESRCH when there is no such
 * process, -EACCES or -EPERM when we lack the right, -EPROTO when what is there is not scope
 * memory, -ENOTSUP when it is of another version.
 */
int scope_reader_open(const struct host *host, int32_t pid, enum scope_search search,
		      struct scope_reader **ret, struct error *error);

/* Takes a copy.  Statistics are read only on request, since they cost more. */
int scope_reader_read(struct scope_reader *reader, bool with_statistics, struct scopes *ret,
		      struct error *error);

/*
 * For a tracer: when the memory was made, and where threads have the address of their block.  0 or
 * a negative errno.
 */
int scope_reader_place(struct scope_reader *reader, uint64_t *ret_area_ns,
		       int64_t *ret_self_offset);
/* The text of a label's number, which may be newer than the last copy; "" when there is none. */
const char *scope_reader_label(struct scope_reader *reader, uint32_t number);

void scope_reader_close(struct scope_reader *reader); /* NULL is allowed */
CLEANUP_POINTER(scope_reader_close, struct scope_reader)

#endif
