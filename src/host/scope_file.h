/* SPDX-License-Identifier: MIT */
/*
 * Finds the memory in which a process tells its scopes: see base/scope_layout.h.
 *
 * It is a memfd with a name that anyone can give to anything, so that what is opened is checked to be
 * one: reading from another file could wait for ever, or change something.
 */
#ifndef HOST_SCOPE_FILE_H
#define HOST_SCOPE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct host;

/*
 * Whether the process has it where the library puts it, by a name only: at the first descriptor, or
 * behind others that are taken.  0, -ENOENT, -ESRCH when there is no such process, -EACCES or -EPERM
 * when we may not look.  Costs two system calls for a process that has none.
 */
int scope_file_glance(const struct host *host, int32_t pid);

/* Who knows whether a memory is the right one: 0, or a negative errno and the search goes on. */
struct scope_file_judge {
	int (*accept)(void *context, int fd);
	void *context;
};

/*
 * Opens the first one that is accepted, for reading, below the directory fd of the process in the
 * proc tree.  `everywhere`: also among all of its descriptors, then in its map of memory.  Gives up
 * after 64 that have the name.  Returns an fd; -ENOENT when there is none; what the judge said last
 * when it refused all; another negative errno when we may not look.
 */
int scope_file_open(int process, bool everywhere, const struct scope_file_judge *judge);

#endif
