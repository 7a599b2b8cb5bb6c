/* SPDX-License-Identifier: MIT */
/*
 * The past of what the detail shows, as graphs: of a recording, or of a process that a recorder sees, the
 * last minutes of it; else the moments since the detail was opened.
 */
#ifndef TUI_GRAPHS_H
#define TUI_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group;
struct process;
struct top;

#define GRAPHS_COUNT 5
#define GRAPHS_POINTS 120

/* All zeros is empty and valid.  What is not known of a moment is below 0. */
struct graphs {
	double values[GRAPHS_COUNT][GRAPHS_POINTS]; /* a second, of counters; the oldest first */
	size_t count[GRAPHS_COUNT];
	uint64_t unix_ns; /* of the moment that was added last */
	uint64_t read_ns; /* when the recording was read; CLOCK_MONOTONIC */
	size_t left;	  /* the last ones, which were not read yet: it took too long */
	bool is_recorded;
};

/* Adds the graphs to the page, with the moment unless it was added before. */
void graphs_add(struct top *top, const struct process *process, const struct group *group);

#endif
