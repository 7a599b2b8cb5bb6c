/* SPDX-License-Identifier: MIT */
/*
 * What processes did with each system call, by name: the lines of a summary like that of strace -c.
 * Unlike a struct syscall_table it has no histograms, and has the calls that are under way.
 */
#ifndef MODEL_CALL_LINES_H
#define MODEL_CALL_LINES_H

#include "base/collection/array.h"
#include "model/syscall/syscall.h"

struct call_line {
	char name[SYSCALL_NAME_SIZE]; /* "": all that have no line of their own */
	uint64_t calls, errors;
	uint64_t time_ns, max_ns; /* wall time */
	/* Threads that are in such a call, how long in all, and whether one is there for longer than was seen. */
	uint64_t under_way, under_way_ns;
	bool is_earlier;
};

/* All zeros is empty and valid. */
struct call_lines {
	ARRAY_OF(struct call_line) list;
};

void call_lines_clear(struct call_lines *lines);
/* Adds the figures of a line to another one. */
void call_line_add(struct call_line *sum, const struct call_line *part);
/* Adds to the line of the same name.  0 or -ENOMEM. */
int call_lines_add(struct call_lines *lines, const struct call_line *part);
/* The most time first; of equals, those in which threads are, then the most calls. */
void call_lines_sort(struct call_lines *lines);
struct call_line call_lines_total(const struct call_lines *lines);

#endif
