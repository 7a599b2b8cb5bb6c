/* SPDX-License-Identifier: MIT */
#include "base/collection/number_map.h"

#include <errno.h>
#include <stdlib.h>

#include "base/collection/secret.h"

#define FIRST_CAPACITY 64

/* Spreads neighbouring numbers, which are common; no two become the same. */
static uint32_t scatter(uint32_t number)
{
	number = (number ^ number >> 16) * 0x85ebca6b;
	number = (number ^ number >> 13) * 0xc2b2ae35;
	return number ^ number >> 16;
}

/*
 * The secret is made odd, so that it loses no bit.  The upper half counts: the lower bits of a
 * product depend on few bits of its factors.
 */
static size_t home_of(const struct number_map *map, int32_t number)
{
	return (scatter((uint32_t)number) * (process_secret() | 1) >> 32) & (map->capacity - 1);
}

/* The slot that has the number, or the free one where it belongs. */
static size_t find_slot(const struct number_map *map, int32_t number)
{
	size_t slot = home_of(map, number);

	while (map->slots[slot].value && map->slots[slot].number != number)
		slot = (slot + 1) & (map->capacity - 1);
	return slot;
}

static int grow(struct number_map *map)
{
	struct number_map larger = { .capacity =
					     map->capacity ? map->capacity * 2 : FIRST_CAPACITY };

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slots[i].value)
			larger.slots[find_slot(&larger, map->slots[i].number)] = map->slots[i];
	larger.count = map->count;
	free(map->slots);
	*map = larger;
	return 0;
}

int number_map_reserve(struct number_map *map)
{
	return map->count * 2 < map->capacity ? 0 : grow(map);
}

void number_map_put(struct number_map *map, int32_t number, void *value)
{
	size_t slot = find_slot(map, number);

	map->count += !map->slots[slot].value;
	map->slots[slot] = (struct number_slot){ number, value };
}

int number_map_set(struct number_map *map, int32_t number, void *value)
{
	int status = number_map_reserve(map);

	if (status == 0)
		number_map_put(map, number, value);
	return status;
}

void *number_map_get(const struct number_map *map, int32_t number)
{
	return map->capacity ? map->slots[find_slot(map, number)].value : NULL;
}

/* Moves entries behind a freed slot forward, unless they are where they belong already. */
static void close_gap(struct number_map *map, size_t gap)
{
	size_t mask = map->capacity - 1;

	for (size_t slot = (gap + 1) & mask; map->slots[slot].value; slot = (slot + 1) & mask) {
		size_t home = home_of(map, map->slots[slot].number);

		if (((slot - home) & mask) < ((slot - gap) & mask))
			continue;
		map->slots[gap] = map->slots[slot];
		gap = slot;
	}
	map->slots[gap].value = NULL;
}

void *number_map_remove(struct number_map *map, int32_t number)
{
	size_t slot;
	void *value;

	if (!map->capacity)
		return NULL;
	slot = find_slot(map, number);
	value = map->slots[slot].value;
	if (!value)
		return NULL;
	close_gap(map, slot);
	map->count--;
	return value;
}

void number_map_forget(struct number_map *map, int32_t number, const void *value)
{
	if (value && number_map_get(map, number) == value)
		number_map_remove(map, number);
}

void number_map_clear(struct number_map *map)
{
	free(map->slots);
	*map = (struct number_map){ 0 };
}
