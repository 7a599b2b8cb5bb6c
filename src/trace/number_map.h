/*
 * A map from numbers of tasks to what is known of them.  Owns neither.
 *
 * All zeros is empty and valid.
 */
#ifndef TRACE_NUMBER_MAP_H
#define TRACE_NUMBER_MAP_H

#include <stddef.h>
#include <stdint.h>

struct number_slot {
	int32_t number;
	void *value; /* NULL: the slot is free */
};

struct number_map {
	struct number_slot *slots;
	size_t count;
	size_t capacity; /* 0 or a power of two */
};

/* Adds or replaces.  0 or -ENOMEM (then nothing changed). */
int number_map_set(struct number_map *map, int32_t number, void *value);
void *number_map_get(const struct number_map *map, int32_t number); /* or NULL */
void *number_map_remove(struct number_map *map, int32_t number);    /* what was there, or NULL */
void number_map_clear(struct number_map *map);

#endif
