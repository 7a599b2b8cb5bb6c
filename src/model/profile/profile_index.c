/* SPDX-License-Identifier: MIT */
#include "model/profile/profile_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/collection/secret.h"

#define FIRST_CAPACITY 256

static uint32_t hash_of(const struct index_key *kind, const void *key)
{
	return (uint32_t)XXH3_64bits_withSeed(key, kind->size, process_secret());
}

static bool is_equal(const struct index_slot *slot, const struct profile *profile,
		     const struct index_key *kind, const void *key, uint32_t hash)
{
	unsigned char there[INDEX_KEY_MAX];

	if (slot->hash != hash)
		return false;
	kind->fill(profile, slot->number - 1, there);
	return memcmp(there, key, kind->size) == 0;
}

bool index_find(const struct index_table *table, const struct profile *profile,
		const struct index_key *kind, const void *key, uint32_t *ret)
{
	uint32_t hash = hash_of(kind, key);

	for (size_t i = hash; table->capacity; i++) {
		const struct index_slot *slot = &table->slots[i & (table->capacity - 1)];

		if (!slot->number)
			break;
		if (!is_equal(slot, profile, kind, key, hash))
			continue;
		*ret = slot->number - 1;
		return true;
	}
	return false;
}

static void put(struct index_table *table, uint32_t hash, uint32_t number)
{
	size_t mask = table->capacity - 1, slot = hash & mask;

	while (table->slots[slot].number)
		slot = (slot + 1) & mask;
	table->slots[slot] = (struct index_slot){ hash, number };
	table->count++;
}

int index_reserve(struct index_table *table)
{
	struct index_table larger = { .capacity = table->capacity ? 2 * table->capacity :
								    FIRST_CAPACITY };

	if (2 * (table->count + 1) <= table->capacity)
		return 0;
	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].number)
			put(&larger, table->slots[i].hash, table->slots[i].number);
	free(table->slots);
	*table = larger;
	return 0;
}

void index_put(struct index_table *table, const struct index_key *kind, const void *key,
	       uint32_t number)
{
	put(table, hash_of(kind, key), number + 1);
}

void index_free(struct index_table *table)
{
	free(table->slots);
	*table = (struct index_table){ 0 };
}
