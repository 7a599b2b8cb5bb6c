/* SPDX-License-Identifier: MIT */
/*
 * The stat file of a process or thread, which begins like "12 (name) S 1 ...".
 */
#ifndef SESSION_STAT_LINE_H
#define SESSION_STAT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree_event.h"

/* Numbers of fields, from 1. */
enum {
	STAT_PARENT = 4,
	STAT_FLAGS = 9,
	STAT_START = 22,
	STAT_EXIT_CODE = 52,
	STAT_FIELDS,
};

struct stat_line {
	char comm[TREE_COMM_SIZE];
	char state;
	int64_t fields[STAT_FIELDS]; /* those that do not fit are INT64_MAX */
	unsigned count;		     /* fields are known below that number */
};

/* False when it is none; then *ret is untouched. */
bool stat_line_parse(const char *text, struct stat_line *ret);

/* The file below a directory.  0, -EBADMSG, or another negative errno. */
int stat_line_read(int directory, const char *path, struct stat_line *ret);

/* It has ended, or is on its way out. */
bool stat_line_is_ending(const struct stat_line *line);
bool stat_line_is_kernel_thread(const struct stat_line *line);

/*
 * Whether any thread of the process, given by its directory, goes on: the first one may have ended
 * long before the others.
 */
bool stat_line_any_lives(int process);

#endif
