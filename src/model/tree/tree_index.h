/* SPDX-License-Identifier: MIT */
/*
 * The tables that a tree needs to find its members, and to decide which ended ones it keeps.
 * Private to src/model/tree.
 */
#ifndef MODEL_TREE_INDEX_H
#define MODEL_TREE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/number_map.h"
#include "model/tree/tree.h"

/*
 * Keeps the items with the highest ranks among all that were offered: a heap with the lowest on
 * top.
 */
struct kept_entry {
	uint64_t rank;
	void *item;
};

struct kept_heap {
	struct kept_entry *entries; /* TREE_KEPT of them */
	size_t count;
};

int kept_heap_init(struct kept_heap *heap);
/* Returns the item that found no room, which may be the offered one, or NULL. */
void *kept_heap_offer(struct kept_heap *heap, uint64_t rank, void *item);

struct process_list {
	struct tree_process *first, *last;
	size_t count;
};

/* The longest waits so far, in descending order. */
struct wait_list {
	struct tree_wait waits[TREE_TOP_WAITS];
	size_t count;
};

#define PROGRAM_SLOTS (2 * TREE_PROGRAMS)

struct tree_index {
	struct number_map threads, processes; /* members by their current number */
	struct process_list closing, ended;
	struct tree_process *taken; /* handed out by tree_take_ended() last */
	struct kept_heap kept_threads, kept_processes;
	size_t resting; /* ended threads of processes that have not ended */
	size_t rss_known, fds_known;
	uint16_t program_slots
		[PROGRAM_SLOTS];       /* rows of `programs`, plus one, by hash of their name */
	struct wait_list costly, work; /* of threads that were freed */
	uint64_t unmatched_events;     /* of tasks that are not in the tree */
};

#endif
