/* SPDX-License-Identifier: MIT */
/*
 * Finds the memory in which a process publishes its scopes: see base/scope_layout.h.
 *
 * It is a memfd with a known name, but anyone can give that name to any file.  So a file is
 * checked to be a memfd before it is opened: reading from another kind of file could wait for
 * ever, or change something.
 */
#ifndef HOST_SCOPE_FILE_H
#define HOST_SCOPE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct host;

/*
 * Checks by name only whether the process has it where the library puts it: at the first
 * descriptor, or behind others that are taken.  Returns 0, -ENOENT, -ESRCH when there is no such
 * process, -EACCES or -EPERM when we lack the right.  Costs two system calls for a process that
 * has none.
 */
int scope_file_probe(const struct host *host, int32_t pid);

/*
 * Decides whether a memory is the right one: accept() returns 0, -EINPROGRESS when it is but has
 * just been created, which ends the search with -ENOENT, or another negative errno to continue it.
 */
struct scope_file_judge {
	int (*accept)(void *context, int fd);
	void *context;
};

/*
 * Opens, for reading, the first memory that the judge accepts, below the directory fd of the
 * process in the proc tree.  With `everywhere`, also searches all of its descriptors, then its
 * memory map.  Gives up after 64 files that have the name.  Returns an fd; -ENOENT when there is
 * none; the judge's last error when it refused all; another negative errno when we lack the right.
 */
int scope_file_open(int process, bool everywhere, const struct scope_file_judge *judge);

#endif
