/*
 * What a tree needs to find its members, and to decide whom it keeps: private to src/model/tree*.c.
 */
#ifndef MODEL_TREE_INDEX_H
#define MODEL_TREE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "model/tree.h"

/* Members by number.  At one time one member has a number; callers compare start times. */
struct task_entry {
	int32_t id;
	void *item; /* NULL: free */
};

struct task_table {
	struct task_entry *entries;
	size_t count, capacity; /* the capacity is a power of two, or 0 */
};

/* Makes room for one more, so that task_table_put() cannot fail.  0 or -ENOMEM. */
int task_table_reserve(struct task_table *table);
void *task_table_find(const struct task_table *table, int32_t id);
void task_table_put(struct task_table *table, int32_t id, void *item); /* replaces */
void task_table_remove(struct task_table *table, int32_t id, const void *item);
void task_table_clear(struct task_table *table);

/* Those with the highest ranks among all that were offered: a heap with the lowest on top. */
struct kept_entry {
	uint64_t rank;
	void *item;
};

struct kept_heap {
	struct kept_entry *entries; /* TREE_KEPT of them */
	size_t count;
};

int kept_heap_init(struct kept_heap *heap);
/* Returns the one that there is no room for, which may be the offered one, or NULL. */
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

struct tree_index {
	struct task_table threads, processes;
	struct process_list closing, ended;
	struct tree_process *taken; /* handed out by tree_take_ended() last */
	struct kept_heap kept_threads, kept_processes;
	size_t resting; /* threads that ended, at processes that did not */
	size_t rss_known, fds_known;
	struct wait_list costly, work; /* of threads that are done with */
	uint64_t strays;
};

#endif
