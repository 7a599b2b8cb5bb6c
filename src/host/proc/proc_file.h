/* SPDX-License-Identifier: MIT */
/*
 * Opens and reads files and directories of procfs below a directory fd.
 *
 * This folder is for files of a task that all layers read in the same way.  A directory fd of a task stays with that task: once the task is gone, nothing can be opened
 * there, even if another task has the same number by then.
 */
#ifndef HOST_PROC_FILE_H
#define HOST_PROC_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"

struct host;

/* A buffer to read one file after another into.  All zeros is valid; grows as needed. */
struct proc_buffer {
	char *data;
	size_t capacity;
};

void proc_buffer_clear(struct proc_buffer *buffer);

/*
 * Reads a file whole and ends it with a NUL.  Returns its length or a negative errno; -EFBIG for a
 * file of 1 MiB or more.
 */
ssize_t proc_read(int dir, const char *name, struct proc_buffer *buffer);
ssize_t proc_read_fd(int fd, struct proc_buffer *buffer); /* the same, of an open file */

/*
 * Reads a file in one piece, which procfs allows, and ends it with a NUL.  What does not fit is
 * cut.  Returns the length or a negative errno.
 */
ssize_t proc_read_start(int dir, const char *name, char *buffer, size_t capacity);

/* Opens a directory, to open files below it.  Returns an fd or a negative errno. */
int proc_open(int dir, const char *name);
int proc_open_number(int dir, int32_t number);
int proc_open_thread(int proc, int32_t pid, int32_t tid);

/* For files that every task has: if one is missing, the task is gone. */
static inline int proc_gone(ssize_t status)
{
	return status == -ENOENT ? -ESRCH : (int)status;
}

struct proc_numbers {
	ARRAY_OF(int32_t) list;
};

void proc_numbers_clear(struct proc_numbers *numbers);

static inline bool proc_numbers_have(const struct proc_numbers *numbers, int32_t number)
{
	for (size_t i = 0; i < numbers->list.count; i++)
		if (numbers->list.data[i] == number)
			return true;
	return false;
}

/* Lists the entries of a directory that are numbers, ascending.  Replaces the former list. */
int proc_list(int dir, const char *path, struct proc_numbers *ret);
int proc_list_threads(int proc, int32_t pid, struct proc_numbers *ret);

/*
 * Whether system calls use the same task numbers as proc shows.  They do not on a recorded host,
 * nor when the proc mount is of another PID namespace.
 */
bool proc_numbers_are_ours(const struct host *host);

#endif
