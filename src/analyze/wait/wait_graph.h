/* SPDX-License-Identifier: MIT */
/*
 * A graph of who waits for whom.  Nodes are threads.  An edge leads from a thread that waits to one
 * that can end the wait: the holder of a lock, a thread that is joined, any thread of a process at
 * the other end of a pipe.  One of several is enough.
 *
 * A group stands for all threads of a process, so that many that wait for many need few edges: edges
 * lead from it to its threads.
 *
 * This folder judges, without any I/O, whether waits can end.
 */
#ifndef ANALYZE_WAIT_GRAPH_H
#define ANALYZE_WAIT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"

struct wait_edge {
	uint32_t from, to;
};

struct wait_graph {
	/*
	 * Whether each thread may go on without any other: it runs, its wait has a time limit, or
	 * what can end it is not known completely.
	 */
	ARRAY_OF(bool) goes_on;
	ARRAY_OF(bool) is_group; /* of the same nodes */
	ARRAY_OF(struct wait_edge) edges;
};

void wait_graph_clear(struct wait_graph *graph);

/* Adds a thread and gives its number, which counts from 0.  0 or -ENOMEM. */
int wait_graph_add(struct wait_graph *graph, bool goes_on, uint32_t *ret);
/* Adds a group, which counts along with the threads. */
int wait_graph_add_group(struct wait_graph *graph, uint32_t *ret);
/* Both ends must have been added.  0 or -ENOMEM. */
int wait_graph_connect(struct wait_graph *graph, uint32_t from, uint32_t to);

/*
 * Finds a deadlock that keeps one of the threads from `start` to before `end` waiting: threads that wait for each other in a circle, where
 * nobody outside can end any of their waits.  A thread that waits for one of them is not part of
 * the circle, and a thread does not wait for itself through a group.  Returns how many threads are in it and their numbers, each waiting for the next and
 * the last for the first; 0 when there is none, -ENOMEM, or -E2BIG when there are more than
 * `capacity`.  Takes time in proportion to the size of the graph.
 */
int wait_graph_find_cycle(const struct wait_graph *graph, uint32_t start, uint32_t end,
			  uint32_t *ret, size_t capacity);

#endif
