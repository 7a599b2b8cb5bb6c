/* SPDX-License-Identifier: MIT */
/*
 * Keeps files of the kernel open that every sample reads again: opening and closing one takes
 * longer than reading it.
 *
 * What is read is always new.  A file whose device or cgroup was removed cannot be read any more
 * and is forgotten, so whatever has its name now is opened by the next reader.
 */
#ifndef HOST_KEPT_FILES_H
#define HOST_KEPT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/collection/array.h"

struct dictionary;
struct proc_buffer;

/* All zeros is empty and valid. */
struct kept_files {
	struct dictionary *names;
	ARRAY_OF(struct kept_file) list; /* by number of the name */
	size_t open;
};

struct kept_file {
	int fd; /* plus one; 0: not kept */
	bool is_used;
};

void kept_files_clear(struct kept_files *kept);

/*
 * Reads the file that is kept under a name, as proc_read() does.  -ENOENT when there is none, or
 * when it could not be read and was forgotten.
 */
ssize_t kept_files_read(struct kept_files *kept, const char *name, struct proc_buffer *buffer);

/* Takes over an fd that was read; closes it when there is no room. */
void kept_files_add(struct kept_files *kept, const char *name, int fd);

/* Closes the files that nobody has read or added since the last call. */
void kept_files_sweep(struct kept_files *kept);

#endif
