/* SPDX-License-Identifier: MIT */
/*
 * This room shows what processes did with system calls, as a table with the columns of strace -c -w.
 */
#ifndef RENDER_CALLS_VIEW_H
#define RENDER_CALLS_VIEW_H

#include <stddef.h>
#include <stdint.h>

struct call_line;
struct call_lines;
struct table;

/* Columns of a line; a view may put others before them. */
void call_columns(struct table *table);
/* Those of a recording, without what only a summary has: the share, and the calls that are under way. */
void recorded_call_columns(struct table *table);
void put_recorded_call(struct table *table, const struct call_line *line);
/* The first `limit` lines (0: all); for people also the rest as one line, and the total. */
void put_call_lines(struct table *table, const struct call_lines *lines, size_t limit);

#endif
