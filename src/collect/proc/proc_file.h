/* SPDX-License-Identifier: MIT */
/*
 * Opens and reads files and directories of procfs below a directory fd.
 *
 * A directory fd of a task stays with that task: once the task is gone, nothing can be opened
 * there, even if another task has the same number by then.
 */
#ifndef COLLECT_PROC_FILE_H
#define COLLECT_PROC_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

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

/* Opens a directory, to open files below it.  Returns an fd or a negative errno. */
int proc_open(int dir, const char *name);
int proc_open_number(int dir, int32_t number);

struct proc_numbers {
	ARRAY_OF(int32_t) list;
};

void proc_numbers_clear(struct proc_numbers *numbers);

/* Lists the entries of a directory that are numbers, ascending.  Replaces the former list. */
int proc_list(int dir, const char *path, struct proc_numbers *ret);

/*
 * Whether system calls use the same task numbers as proc shows.  They do not on a recorded host,
 * nor when the proc mount is of another PID namespace.
 */
bool proc_numbers_are_ours(const struct host *host);

#endif
