/* SPDX-License-Identifier: MIT */
/*
 * Finds the number of a frame, node or sample that is equal to a given one, in a time that does not
 * depend on how many there are.  Private to src/model/profile.
 */
#ifndef MODEL_PROFILE_INDEX_H
#define MODEL_PROFILE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"

struct profile;

struct index_slot {
	uint32_t hash;
	uint32_t number; /* plus one; 0: the slot is free */
};

/* Open addressing, at most half full. */
struct index_table {
	struct index_slot *slots;
	size_t count, capacity; /* the capacity is 0 or a power of two */
};

struct profile_index {
	struct index_table frames, nodes, samples;
	ARRAY_OF(uint16_t) depths; /* how many frames the stack of a node has */
	size_t text_bytes;
};

/* What makes two items equal: `size` bytes, none of them padding, of the item with that number. */
struct index_key {
	void (*fill)(const struct profile *profile, uint32_t number, void *ret);
	size_t size;
};

#define INDEX_KEY_MAX 48

/* Whether an item with that key is there; then *ret is its number. */
bool index_find(const struct index_table *table, const struct profile *profile,
		const struct index_key *kind, const void *key, uint32_t *ret);
/* Makes room for one more, so that index_put() cannot fail.  0 or -ENOMEM. */
int index_reserve(struct index_table *table);
void index_put(struct index_table *table, const struct index_key *kind, const void *key,
	       uint32_t number);
void index_free(struct index_table *table);

#endif
