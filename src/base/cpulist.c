/* SPDX-License-Identifier: MIT */
#include "base/cpulist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#define WORD_BITS 64

static int cpuset_add(struct cpuset *set, uint64_t first, uint64_t last)
{
	size_t needed = last / WORD_BITS + 1;

	if (needed > set->word_count) {
		uint64_t *words = realloc(set->words, needed * sizeof(*words));

		if (!words)
			return -ENOMEM;
		memset(words + set->word_count, 0, (needed - set->word_count) * sizeof(*words));
		set->words = words;
		set->word_count = needed;
	}
	for (; first <= last; first++)
		set->words[first / WORD_BITS] |= 1ull << first % WORD_BITS;
	return 0;
}

static int parse_ranges(const char *cursor, struct cpuset *set)
{
	while (*cursor && *cursor != '\n') {
		uint64_t first, last;
		int status;

		if (!scan_u64(&cursor, &first))
			return -EINVAL;
		last = first;
		if (*cursor == '-') {
			cursor++;
			if (!scan_u64(&cursor, &last))
				return -EINVAL;
		}
		if (last < first || last >= CPULIST_MAX)
			return -EINVAL;
		status = cpuset_add(set, first, last);
		if (status < 0)
			return status;
		if (*cursor == ',' && cursor[1] != '\0' && cursor[1] != '\n')
			cursor++;
		else if (*cursor && *cursor != '\n')
			return -EINVAL;
	}
	return *cursor == '\n' && cursor[1] != '\0' ? -EINVAL : 0;
}

int cpulist_parse(const char *list, struct cpuset *ret)
{
	struct cpuset set = { 0 };
	int status = parse_ranges(list, &set);

	if (status < 0) {
		cpuset_clear(&set);
		return status;
	}
	*ret = set;
	return 0;
}

void cpuset_clear(struct cpuset *set)
{
	free(set->words);
	*set = (struct cpuset){ 0 };
}

unsigned cpuset_count(const struct cpuset *set)
{
	unsigned count = 0;

	for (size_t i = 0; i < set->word_count; i++)
		count += (unsigned)__builtin_popcountll(set->words[i]);
	return count;
}

void cpuset_intersect(struct cpuset *set, const struct cpuset *other)
{
	for (size_t i = 0; i < set->word_count; i++)
		set->words[i] &= i < other->word_count ? other->words[i] : 0;
}

static bool has_cpu(const uint64_t *words, size_t word_count, size_t cpu)
{
	return cpu / WORD_BITS < word_count && words[cpu / WORD_BITS] >> cpu % WORD_BITS & 1;
}

void cpulist_format(const uint64_t *words, size_t word_count, struct text *out)
{
	const char *comma = "";
	size_t cpu = 0;

	while (cpu < word_count * WORD_BITS) {
		size_t first = cpu;

		if (!has_cpu(words, word_count, cpu)) {
			cpu++;
			continue;
		}
		while (has_cpu(words, word_count, cpu + 1))
			cpu++;
		text_format(out, cpu > first ? "%s%zu-%zu" : "%s%zu", comma, first, cpu);
		comma = ",";
		cpu++;
	}
}

unsigned cpulist_count(const char *list)
{
	struct cpuset set;
	int status = cpulist_parse(list, &set);
	unsigned count;

	if (status == -ENOMEM)
		memory_note_missing();
	if (status < 0)
		return 0;
	count = cpuset_count(&set);
	cpuset_clear(&set);
	return count;
}
