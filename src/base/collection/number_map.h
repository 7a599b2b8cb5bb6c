/* SPDX-License-Identifier: MIT */
/*
 * A map from task numbers (pid, tid) to pointers, which it does not own.  A number has one value
 * at a time.  The kernel reuses numbers: a caller that may meet a reused one compares start times.
 *
 * A map that is all zeros is empty and valid.
 */
#ifndef BASE_NUMBER_MAP_H
#define BASE_NUMBER_MAP_H

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

/* Makes room for one more, so that number_map_put() cannot fail.  Returns 0 or -ENOMEM. */
int number_map_reserve(struct number_map *map);
void number_map_put(struct number_map *map, int32_t number, void *value); /* adds or replaces */
/* Reserves and puts.  Returns 0 or -ENOMEM (then nothing changed). */
int number_map_set(struct number_map *map, int32_t number, void *value);
void *number_map_get(const struct number_map *map, int32_t number); /* or NULL */
void *number_map_remove(struct number_map *map, int32_t number);    /* the old value, or NULL */
/* Removes the number only if it has that value. */
void number_map_forget(struct number_map *map, int32_t number, const void *value);
void number_map_clear(struct number_map *map);

#endif
