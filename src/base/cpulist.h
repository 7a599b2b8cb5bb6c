/* SPDX-License-Identifier: MIT */
/*
 * CPU sets as the kernel writes them: "0-3,8".
 */
#ifndef BASE_CPULIST_H
#define BASE_CPULIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPULIST_MAX 65536 /* CPUs; a list that names a higher one is refused */

struct text;

struct cpuset {
	uint64_t *words;
	size_t word_count;
};

/*
 * Reads a list, which may end with a newline.  Returns 0 and a set that the caller must clear,
 * -EINVAL or -ENOMEM.
 */
int cpulist_parse(const char *list, struct cpuset *ret);
void cpuset_clear(struct cpuset *set);

unsigned cpuset_count(const struct cpuset *set);
void cpuset_intersect(struct cpuset *set, const struct cpuset *other);

/* The canonical list of a mask of 64-bit words: ascending, ranges joined; "" when empty. */
void cpulist_format(const uint64_t *words, size_t word_count, struct text *out);

/* How many CPUs a list names; 0 for a list that does not parse. */
unsigned cpulist_count(const char *list);

#endif
