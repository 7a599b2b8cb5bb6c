#include "model/tree_index.h"

#include <errno.h>
#include <stdlib.h>

#define TABLE_MINIMUM 64

static size_t home_of(const struct task_table *table, int32_t id)
{
	return (uint32_t)id * 2654435769U & (table->capacity - 1);
}

static size_t next_of(const struct task_table *table, size_t at)
{
	return (at + 1) & (table->capacity - 1);
}

/* Where the number is, or would be. */
static size_t place_of(const struct task_table *table, int32_t id)
{
	size_t at = home_of(table, id);

	while (table->entries[at].item && table->entries[at].id != id)
		at = next_of(table, at);
	return at;
}

void *task_table_find(const struct task_table *table, int32_t id)
{
	return table->capacity ? table->entries[place_of(table, id)].item : NULL;
}

int task_table_reserve(struct task_table *table)
{
	struct task_table grown = { .capacity = table->capacity * 2 };

	if (table->count + 1 <= table->capacity / 2)
		return 0;
	if (!grown.capacity)
		grown.capacity = TABLE_MINIMUM;
	grown.entries = calloc(grown.capacity, sizeof(*grown.entries));
	if (!grown.entries)
		return -ENOMEM;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->entries[i].item)
			task_table_put(&grown, table->entries[i].id, table->entries[i].item);
	free(table->entries);
	*table = grown;
	return 0;
}

void task_table_put(struct task_table *table, int32_t id, void *item)
{
	struct task_entry *entry = &table->entries[place_of(table, id)];

	table->count += !entry->item;
	*entry = (struct task_entry){ .id = id, .item = item };
}

/* Entries behind the gap move up as far as their home allows, so that no search ends early. */
static void close_gap(struct task_table *table, size_t gap)
{
	for (size_t at = next_of(table, gap); table->entries[at].item; at = next_of(table, at)) {
		size_t home = home_of(table, table->entries[at].id);
		size_t mask = table->capacity - 1;

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		table->entries[gap] = table->entries[at];
		gap = at;
	}
	table->entries[gap].item = NULL;
}

void task_table_remove(struct task_table *table, int32_t id, const void *item)
{
	size_t at;

	if (!table->capacity)
		return;
	at = place_of(table, id);
	if (table->entries[at].item != item)
		return;
	table->count--;
	close_gap(table, at);
}

void task_table_clear(struct task_table *table)
{
	free(table->entries);
	*table = (struct task_table){ 0 };
}

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

/* Puts the entry in place of the lowest one. */
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
