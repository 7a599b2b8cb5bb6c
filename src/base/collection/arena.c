/* SPDX-License-Identifier: MIT */
#include "base/collection/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)32 * 1024)
#define ALIGNMENT sizeof(uint64_t)

struct arena_block {
	struct arena_block *older;
	size_t used;
	size_t capacity;
	_Alignas(uint64_t) char bytes[];
};

static struct arena_block *arena_grow(struct arena *arena, size_t size)
{
	size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *block = calloc(1, sizeof(*block) + capacity);

	if (!block)
		return NULL;
	block->capacity = capacity;
	block->older = arena->newest;
	arena->newest = block;
	return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->newest;
	void *memory;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	if (!block || block->capacity - block->used < size)
		block = arena_grow(arena, size);
	if (!block)
		return NULL;
	memory = block->bytes + block->used;
	block->used += size;
	return memory;
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void arena_clear(struct arena *arena)
{
	while (arena->newest) {
		struct arena_block *older = arena->newest->older;

		free(arena->newest);
		arena->newest = older;
	}
}
