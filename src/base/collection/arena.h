/* SPDX-License-Identifier: MIT */
/*
 * This room keeps many things: in memory that is freed all at once, in arrays, in a table of texts,
 * in a map of task numbers.
 *
 * Memory from an arena is zeroed and stays valid until arena_clear().  An arena that is all zeros is
 * empty and valid.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <errno.h>
#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *newest;
};

/* Return NULL when there is no memory. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_copy(struct arena *arena, const char *text, size_t length);

/*
 * Makes an array of `count` items, all zeros, with room for one more, so that one of none is not
 * NULL.  Evaluates to 0 or -ENOMEM.
 */
#define arena_array(arena, pointer, count)                                                         \
	(((pointer) = arena_alloc((arena), ((size_t)(count) + 1) * sizeof(*(pointer)))) ? 0 :      \
											  -ENOMEM)

void arena_clear(struct arena *arena);

#endif
