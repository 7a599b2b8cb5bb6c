/* SPDX-License-Identifier: MIT */
/*
 * The CPUs that a task may run on, as a mask from the kernel or as a canonical
 * list from its status file.
 */
#ifndef COLLECT_AFFINITY_H
#define COLLECT_AFFINITY_H

#include <stddef.h>
#include <stdint.h>

struct cpuset;
struct text;

/* A mask that grows to the kernel's size.  All zeros is valid. */
struct affinity_mask {
	uint64_t *words;
	size_t word_count; /* of the latest task */
	size_t capacity;
};

void affinity_mask_clear(struct affinity_mask *mask);

/* Asks the kernel about a live task.  Returns 0 or a negative errno. */
int affinity_ask(int32_t tid, struct affinity_mask *ret);

/*
 * The CPUs of a list that are also online, as a canonical list at the end of `out`; an empty
 * `online` means that it is not known.  0, -EINVAL or -ENOMEM.
 */
int affinity_from_list(const char *list, size_t length, const struct cpuset *online,
		       struct text *out);

#endif
