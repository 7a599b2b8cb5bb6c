/* SPDX-License-Identifier: MIT */
#include "model/tree/tree_index.h"

#include <errno.h>
#include <stdlib.h>

int kept_heap_init(struct kept_heap *heap)
{
	heap->entries = calloc(TREE_KEPT, sizeof(*heap->entries));
	return heap->entries ? 0 : -ENOMEM;
}

static void heap_up(struct kept_heap *heap, struct kept_entry entry)
{
	size_t at = heap->count++;

	for (; at > 0 && heap->entries[(at - 1) / 2].rank > entry.rank; at = (at - 1) / 2)
		heap->entries[at] = heap->entries[(at - 1) / 2];
	heap->entries[at] = entry;
}

/* Replaces the lowest entry. */
static void heap_down(struct kept_heap *heap, struct kept_entry entry)
{
	size_t at = 0, below;

	while ((below = at * 2 + 1) < heap->count) {
		if (below + 1 < heap->count &&
		    heap->entries[below + 1].rank < heap->entries[below].rank)
			below++;
		if (heap->entries[below].rank >= entry.rank)
			break;
		heap->entries[at] = heap->entries[below];
		at = below;
	}
	heap->entries[at] = entry;
}

void *kept_heap_offer(struct kept_heap *heap, uint64_t rank, void *item)
{
	struct kept_entry entry = { .rank = rank, .item = item };
	void *dropped;

	if (heap->count < TREE_KEPT) {
		heap_up(heap, entry);
		return NULL;
	}
	if (rank <= heap->entries[0].rank)
		return item;
	dropped = heap->entries[0].item;
	heap_down(heap, entry);
	return dropped;
}
