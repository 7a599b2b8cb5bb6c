/* SPDX-License-Identifier: MIT */
#include "collect/proc/affinity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/text.h"

#define WORD_BITS 64
#define FIRST_WORDS (8192 / WORD_BITS)
#define LIMIT_WORDS (262144 / WORD_BITS)

void affinity_mask_clear(struct affinity_mask *mask)
{
	free(mask->words);
	*mask = (struct affinity_mask){ 0 };
}

static int mask_grow(struct affinity_mask *mask)
{
	size_t capacity = mask->capacity ? mask->capacity * 2 : FIRST_WORDS;
	uint64_t *words;

	if (capacity > LIMIT_WORDS)
		return -EINVAL;
	words = realloc(mask->words, capacity * sizeof(*words));
	if (!words)
		return -ENOMEM;
	mask->words = words;
	mask->capacity = capacity;
	return 0;
}

/* Only the raw system call, not the C library's function, returns the size of the kernel's mask. */
int affinity_ask(int32_t tid, struct affinity_mask *ret)
{
	for (;;) {
		long bytes = -1;
		int status;

		errno = EINVAL;
		if (ret->capacity)
			bytes = syscall(SYS_sched_getaffinity, tid,
					ret->capacity * sizeof(*ret->words), ret->words);
		if (bytes >= 0) {
			ret->word_count = (size_t)bytes / sizeof(*ret->words);
			return 0;
		}
		if (errno != EINVAL)
			return -errno;
		status = mask_grow(ret); /* the kernel's mask is larger than ours */
		if (status < 0)
			return status;
	}
}

int affinity_from_list(const char *list, size_t length, const struct cpuset *online,
		       struct text *out)
{
	CLEANUP(free_pointer) char *copy = strndup(list, length);
	CLEANUP(cpuset_clear) struct cpuset set = { 0 };
	int status;

	if (!copy)
		return -ENOMEM;
	status = cpulist_parse(copy, &set);
	if (status < 0)
		return status;
	if (online->word_count)
		cpuset_intersect(&set, online);
	cpulist_format(set.words, set.word_count, out);
	return out->failed ? -ENOMEM : 0;
}
