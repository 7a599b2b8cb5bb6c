/* SPDX-License-Identifier: MIT */
#include "base/collection/dictionary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"

struct entry {
	const char *text;
	size_t length;
	uint64_t hash;
};

/* Open addressing, at most half full; a slot holds an id plus one, 0 is free. */
struct dictionary {
	struct arena arena;
	ARRAY_OF(struct entry) entries;
	uint32_t *slots;
	size_t slot_count;
};

static size_t find_slot(const struct dictionary *dictionary, const char *text, size_t length,
			uint64_t hash)
{
	size_t slot = hash & (dictionary->slot_count - 1);

	for (; dictionary->slots[slot]; slot = (slot + 1) & (dictionary->slot_count - 1)) {
		const struct entry *entry = &dictionary->entries.data[dictionary->slots[slot] - 1];

		if (entry->hash == hash && entry->length == length &&
		    memcmp(entry->text, text, length) == 0)
			break;
	}
	return slot;
}

static int resize_slots(struct dictionary *dictionary, size_t count)
{
	uint32_t *slots = calloc(count, sizeof(*slots));
	size_t i;

	if (!slots)
		return -ENOMEM;
	free(dictionary->slots);
	dictionary->slots = slots;
	dictionary->slot_count = count;
	for (i = 0; i < dictionary->entries.count; i++) {
		size_t slot = dictionary->entries.data[i].hash & (count - 1);

		while (slots[slot])
			slot = (slot + 1) & (count - 1);
		slots[slot] = (uint32_t)i + 1;
	}
	return 0;
}

int dictionary_add(struct dictionary *dictionary, const char *text, size_t length, uint32_t *ret_id)
{
	struct entry entry = { .length = length, .hash = XXH3_64bits(text, length) };
	size_t slot = find_slot(dictionary, text, length, entry.hash);

	if (dictionary->slots[slot]) {
		*ret_id = dictionary->slots[slot] - 1;
		return 0;
	}
	if (dictionary->entries.count >= UINT32_MAX - 1)
		return -ENOMEM;
	entry.text = arena_copy(&dictionary->arena, text, length);
	if (!entry.text)
		return -ENOMEM;
	if (2 * (dictionary->entries.count + 1) > dictionary->slot_count) {
		if (resize_slots(dictionary, dictionary->slot_count * 2) < 0)
			return -ENOMEM;
		slot = find_slot(dictionary, text, length, entry.hash);
	}
	if (array_append(&dictionary->entries, entry) < 0)
		return -ENOMEM;
	dictionary->slots[slot] = (uint32_t)dictionary->entries.count;
	*ret_id = (uint32_t)dictionary->entries.count - 1;
	return 0;
}

struct dictionary *dictionary_new(void)
{
	struct dictionary *dictionary = calloc(1, sizeof(*dictionary));
	uint32_t empty;

	if (!dictionary)
		return NULL;
	if (resize_slots(dictionary, 64) < 0 || dictionary_add(dictionary, "", 0, &empty) < 0) {
		dictionary_free(dictionary);
		return NULL;
	}
	return dictionary;
}

void dictionary_free(struct dictionary *dictionary)
{
	if (!dictionary)
		return;
	arena_clear(&dictionary->arena);
	array_free(&dictionary->entries);
	free(dictionary->slots);
	free(dictionary);
}

uint32_t dictionary_find(const struct dictionary *dictionary, const char *text, size_t length)
{
	size_t slot = find_slot(dictionary, text, length, XXH3_64bits(text, length));

	return dictionary->slots[slot] ? dictionary->slots[slot] - 1 : 0;
}

const char *dictionary_text(const struct dictionary *dictionary, uint32_t id)
{
	return id < dictionary->entries.count ? dictionary->entries.data[id].text : "";
}

uint32_t dictionary_count(const struct dictionary *dictionary)
{
	return (uint32_t)dictionary->entries.count;
}
