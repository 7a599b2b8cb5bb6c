/* SPDX-License-Identifier: MIT */
/*
 * A growable array of any type.
 *
 *	struct numbers { ARRAY_OF(int) items; } ...
 *	if (array_reserve(&numbers.items, numbers.items.count + 1) < 0) ...
 *
 * An array that is all zeros is empty and valid.
 */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARRAY_OF(type)                                                                             \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t count;                                                                      \
		size_t capacity;                                                                   \
	}

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The capacity for an array that must hold `wanted` items: it grows by half or more. */
static inline size_t array_grown(size_t capacity, size_t wanted)
{
	size_t grown = capacity + capacity / 2 + 16;

	return grown < wanted ? wanted : grown;
}

static inline int array_reserve_bytes(void **data, size_t *capacity, size_t wanted, size_t size)
{
	size_t grown;
	void *moved;

	if (wanted <= *capacity)
		return 0;
	grown = array_grown(*capacity, wanted);
	if (grown > SIZE_MAX / size)
		return -ENOMEM;
	moved = realloc(*data, grown * size);
	if (!moved)
		return -ENOMEM;
	*data = moved;
	*capacity = grown;
	return 0;
}

/* Makes room for `wanted` items in all.  Returns 0 or -ENOMEM (the array is unchanged). */
#define array_reserve(array, wanted)                                                               \
	array_reserve_bytes((void **)&(array)->data, &(array)->capacity, (wanted),                 \
			    sizeof(*(array)->data))

/* Appends a copy of one item.  Evaluates to 0 or -ENOMEM. */
#define array_append(array, item)                                                                  \
	({                                                                                         \
		int status_ = array_reserve((array), (array)->count + 1);                          \
		if (status_ == 0)                                                                  \
			(array)->data[(array)->count++] = (item);                                  \
		status_;                                                                           \
	})

/* Appends copies of the item until there are `wanted` items.  Evaluates to 0 or -ENOMEM. */
#define array_extend(array, wanted, item)                                                          \
	({                                                                                         \
		int extended_ = array_reserve((array), (wanted));                                  \
		while (extended_ == 0 && (array)->count < (wanted))                                \
			(array)->data[(array)->count++] = (item);                                  \
		extended_;                                                                         \
	})

/*
 * Counts the items that pass the test, by halving: all that pass must come first.  In the test, `item`
 * is a pointer to the item that is looked at.
 *
 *	size_t below = array_bisect(list.data, list.count, item->start <= address);
 */
#define array_bisect(items, items_count, test)                                                     \
	({                                                                                         \
		size_t low_ = 0, high_ = (items_count);                                            \
		while (low_ < high_) {                                                             \
			size_t middle_ = low_ + (high_ - low_) / 2;                                \
			__auto_type item = &(items)[middle_];                                      \
			if (test)                                                                  \
				low_ = middle_ + 1;                                                \
			else                                                                       \
				high_ = middle_;                                                   \
		}                                                                                  \
		low_;                                                                              \
	})

/* Sorts it.  qsort() must not get the NULL that an empty array may have. */
#define array_sort(array, compare)                                                                 \
	do {                                                                                       \
		if ((array)->count)                                                                \
			qsort((array)->data, (array)->count, sizeof(*(array)->data), (compare));   \
	} while (0)
/* A pointer to an item of a sorted array, or NULL. */
#define array_find(array, key, compare)                                                            \
	((array)->count ? bsearch((key), (array)->data, (array)->count, sizeof(*(array)->data),    \
				  (compare)) :                                                     \
			  NULL)

#define array_free(array)                                                                          \
	do {                                                                                       \
		free((array)->data);                                                               \
		(array)->data = NULL;                                                              \
		(array)->count = (array)->capacity = 0;                                            \
	} while (0)

#endif
