/* SPDX-License-Identifier: MIT */
#include "collect/proc/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

#define SLOT_BITS 6
#define SLOTS ((size_t)1 << SLOT_BITS)

/* The C library sets the words to 0 that the kernel's mask does not have. */
int affinity_ask(int32_t tid, uint64_t mask[TASK_AFFINITY_WORDS_MAX])
{
	size_t bytes = TASK_AFFINITY_WORDS_MAX * sizeof(*mask);

	return sched_getaffinity(tid, bytes, (cpu_set_t *)mask) < 0 ? -errno : 0;
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

/* A slot holds the latest mask with its hash. */
struct affinity_lists {
	struct snapshot *snapshot;
	const struct cpuset *online;
	size_t words;
	bool used[SLOTS];
	uint32_t lists[SLOTS];
	uint64_t masks[]; /* of each slot, and one to work with */
};

struct affinity_lists *affinity_lists_new(struct snapshot *snapshot, const struct cpuset *online,
					  size_t words)
{
	struct affinity_lists *lists =
		calloc(1, sizeof(*lists) + (SLOTS + 1) * words * sizeof(uint64_t));

	if (!lists)
		return NULL;
	lists->snapshot = snapshot;
	lists->online = online;
	lists->words = words;
	return lists;
}

void affinity_lists_free(struct affinity_lists *lists)
{
	free(lists);
}

static size_t mask_slot(const uint64_t *mask, size_t words)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < words; i++)
		hash = (hash ^ mask[i]) * 0x9e3779b97f4a7c15ull;
	return hash >> (64 - SLOT_BITS);
}

static int intern_list(struct affinity_lists *lists, const uint64_t *mask, uint32_t *ret)
{
	CLEANUP(text_free) struct text text = { 0 };
	struct cpuset set = { lists->masks + SLOTS * lists->words, lists->words };

	memcpy(set.words, mask, lists->words * sizeof(*mask));
	if (lists->online)
		cpuset_intersect(&set, lists->online);
	cpulist_format(set.words, set.word_count, &text);
	if (text.failed)
		return -ENOMEM;
	return snapshot_intern(lists->snapshot, text_string(&text), text.length, ret);
}

int affinity_lists_find(struct affinity_lists *lists, const uint64_t *mask, uint32_t *ret)
{
	size_t bytes = lists->words * sizeof(*mask);
	size_t slot = mask_slot(mask, lists->words);
	uint64_t *known = lists->masks + slot * lists->words;
	int status;

	if (!lists->used[slot] || memcmp(known, mask, bytes) != 0) {
		lists->used[slot] = false;
		status = intern_list(lists, mask, &lists->lists[slot]);
		if (status < 0)
			return status;
		memcpy(known, mask, bytes);
		lists->used[slot] = true;
	}
	*ret = lists->lists[slot];
	return 0;
}
