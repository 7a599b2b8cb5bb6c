/* SPDX-License-Identifier: MIT */
/*
 * Reads the scopes of a program that uses libtaskscope, from outside: see base/scope_layout.h.
 *
 * The program's memory is copied with pread() from a descriptor of our own, so that it is neither
 * stopped nor waited for, and may shrink, change or be nonsense.  The copy can be taken as long as the
 * reader is open, also after the process ended.
 */
#ifndef COLLECT_SCOPE_READER_H
#define COLLECT_SCOPE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct host;
struct scopes;
struct scope_reader;

/* How hard to look. */
enum scope_search {
	SCOPE_SEARCH_QUICK, /* at the descriptors where the library keeps it: about 2 us for a process
			     * that has none */
	SCOPE_SEARCH_ALL,   /* also in its memory map, for those that closed or moved descriptors */
};

/*
 * -ENOENT when the process has no scopes of its own (no sentence is set), also when it holds another's
 * memory, as readers do; -ESRCH when there is no such process, -EACCES or -EPERM when we may not
 * look, -EPROTO when what is there is no such memory, -ENOTSUP when it is of a newer version; with a
 * sentence.
 */
int scope_reader_open(const struct host *host, int32_t pid, enum scope_search search,
		      struct scope_reader **ret, struct error *error);

/* Takes a copy.  Statistics cost more and come only when they are wanted. */
int scope_reader_read(struct scope_reader *reader, bool with_statistics, struct scopes *ret,
		      struct error *error);

void scope_reader_close(struct scope_reader *reader); /* NULL is allowed */
void scope_reader_close_pointer(struct scope_reader **reader);

/*
 * The same from bytes that are in memory, for tests: `now_ticks` of the clock that the header names
 * and `now_ns` were read together.
 */
int scopes_decode(const void *bytes, size_t length, uint64_t now_ticks, uint64_t now_ns,
		  bool with_statistics, struct scopes *ret, struct error *error);

#endif
