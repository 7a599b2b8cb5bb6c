/* SPDX-License-Identifier: MIT */
#include "analyze/wait/wait_graph.h"

#include <string.h>

#include "base/cleanup.h"

void wait_graph_clear(struct wait_graph *graph)
{
	free(graph->goes_on.data);
	free(graph->is_group.data);
	free(graph->edges.data);
	*graph = (struct wait_graph){ 0 };
}

static int add(struct wait_graph *graph, bool goes_on, bool is_group, uint32_t *ret)
{
	uint32_t number = (uint32_t)graph->goes_on.count;
	int status = array_append(&graph->is_group, is_group);

	if (status == 0)
		status = array_append(&graph->goes_on, goes_on);
	if (status == 0)
		*ret = number;
	return status;
}

int wait_graph_add(struct wait_graph *graph, bool goes_on, uint32_t *ret)
{
	return add(graph, goes_on, false, ret);
}

int wait_graph_add_group(struct wait_graph *graph, uint32_t *ret)
{
	return add(graph, false, true, ret);
}

int wait_graph_connect(struct wait_graph *graph, uint32_t from, uint32_t to)
{
	struct wait_edge edge = { from, to };

	return array_append(&graph->edges, edge);
}

/* The edges of each thread in a row: those of `i` begin at first[i]. */
struct adjacency {
	size_t *first;
	uint32_t *ends;
};

static void adjacency_clear(struct adjacency *adjacency)
{
	free(adjacency->first);
	free(adjacency->ends);
}

/* Sorts the edges by the end that is not kept: by `to` if they are reversed. */
static int arrange(const struct wait_graph *graph, bool is_reversed, struct adjacency *ret)
{
	size_t count = graph->goes_on.count;

	ret->first = calloc(count + 2, sizeof(*ret->first));
	ret->ends = calloc(graph->edges.count + 1, sizeof(*ret->ends));
	if (!ret->first || !ret->ends)
		return -ENOMEM;
	for (size_t i = 0; i < graph->edges.count; i++) {
		const struct wait_edge *edge = &graph->edges.data[i];

		ret->first[(is_reversed ? edge->to : edge->from) + 2]++;
	}
	for (size_t i = 2; i < count + 2; i++)
		ret->first[i] += ret->first[i - 1];
	for (size_t i = 0; i < graph->edges.count; i++) {
		const struct wait_edge *edge = &graph->edges.data[i];
		uint32_t key = is_reversed ? edge->to : edge->from;

		ret->ends[ret->first[key + 1]++] = is_reversed ? edge->from : edge->to;
	}
	return 0;
}

/* Marks every thread whose wait can end: one that goes on can end it, directly or through others. */
static int spread(const struct wait_graph *graph, bool *can_end)
{
	CLEANUP(adjacency_clear) struct adjacency waiters = { 0 };
	CLEANUP(free_pointer)
	uint32_t *queue = calloc(graph->goes_on.count + 1, sizeof(*queue));
	size_t count = 0;
	int status = arrange(graph, true, &waiters);

	if (status < 0 || !queue)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->goes_on.count; i++)
		if ((can_end[i] = graph->goes_on.data[i]))
			queue[count++] = i;
	for (size_t next = 0; next < count; next++)
		for (size_t i = waiters.first[queue[next]]; i < waiters.first[queue[next] + 1]; i++)
			if (!can_end[waiters.ends[i]]) {
				can_end[waiters.ends[i]] = true;
				queue[count++] = waiters.ends[i];
			}
	return 0;
}

#define NOBODY UINT32_MAX

/* The first end that a node waits for, other than `not_this`. */
static uint32_t first_end(const struct adjacency *holders, uint32_t node, uint32_t not_this)
{
	for (size_t i = holders->first[node]; i < holders->first[node + 1]; i++)
		if (holders->ends[i] != not_this)
			return holders->ends[i];
	return NOBODY;
}

/* The first thread that a thread waits for, directly or in a group. */
static uint32_t next_thread(const struct wait_graph *graph, const struct adjacency *holders,
			    uint32_t thread)
{
	for (size_t i = holders->first[thread]; i < holders->first[thread + 1]; i++) {
		uint32_t next = holders->ends[i];

		if (graph->is_group.data[next])
			next = first_end(holders, next, thread);
		if (next != NOBODY)
			return next;
	}
	return NOBODY;
}

/*
 * Follows the first thread that each thread waits for until one comes again: from there on it is a
 * circle.  `order` has the threads of earlier walks, which found none, with numbers up to *steps.
 */
static int follow(const struct wait_graph *graph, const struct adjacency *holders, uint32_t start,
		  size_t *order, size_t *steps, uint32_t *ret, size_t capacity)
{
	size_t length = 0, before = *steps;
	uint32_t now = start;

	while (now != NOBODY && !order[now]) {
		order[now] = ++*steps;
		now = next_thread(graph, holders, now);
	}
	/* A wait that nobody can end is not a circle. */
	if (now == NOBODY || order[now] <= before)
		return 0;
	start = now;
	do {
		if (length == capacity)
			return -E2BIG;
		ret[length++] = now;
		now = next_thread(graph, holders, now);
	} while (now != start);
	return (int)length;
}

int wait_graph_find_cycle(const struct wait_graph *graph, uint32_t start, uint32_t end,
			  uint32_t *ret, size_t capacity)
{
	size_t count = graph->goes_on.count, steps = 0;
	CLEANUP(adjacency_clear) struct adjacency holders = { 0 };
	CLEANUP(free_pointer) bool *can_end = calloc(count + 1, sizeof(*can_end));
	CLEANUP(free_pointer) size_t *order = calloc(count + 1, sizeof(*order));
	int length = 0;

	if (!can_end || !order || arrange(graph, false, &holders) < 0 || spread(graph, can_end) < 0)
		return -ENOMEM;
	for (uint32_t i = start; length == 0 && i < end && i < count; i++)
		if (!can_end[i])
			length = follow(graph, &holders, i, order, &steps, ret, capacity);
	return length;
}
