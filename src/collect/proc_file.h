/* SPDX-License-Identifier: MIT */
/*
 * Files and directories of procfs, opened below a directory fd.
 *
 * A directory fd of a task stays with that task: once it is gone, nothing can be
 * opened there any more, even if its number is in use again.
 */
#ifndef COLLECT_PROC_FILE_H
#define COLLECT_PROC_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/array.h"

struct host;

/* Where a file is read to, again and again.  All zeros is valid; grows as needed. */
struct proc_buffer {
	char *data;
	size_t capacity;
};

void proc_buffer_clear(struct proc_buffer *buffer);

/*
 * Reads a file whole and ends it with a NUL.  Returns its length or a negative
 * errno; -EFBIG for one of a mebibyte or more.
 */
ssize_t proc_read(int dir, const char *name, struct proc_buffer *buffer);

/* A directory to open files below.  Returns an fd or a negative errno. */
int proc_open(int dir, const char *name);
int proc_open_number(int dir, int32_t number);

struct proc_numbers {
	ARRAY_OF(int32_t) list;
};

void proc_numbers_clear(struct proc_numbers *numbers);

/* The entries of a directory that are numbers, ascending.  Replaces what was there. */
int proc_list(int dir, const char *path, struct proc_numbers *ret);

/*
 * Whether system calls know tasks by the numbers that proc shows: never on a
 * recorded host, nor when the mount is of another PID namespace.
 */
bool proc_numbers_are_ours(const struct host *host);

#endif
