/* SPDX-License-Identifier: MIT */
#include "base/cpulist.h"
#include "base/text.h"
#include "fuzz_text.h"

/* What the canonical form says is what was read, and it is its own canonical form. */
static void check_canonical(const struct cpuset *set)
{
	struct text list = { 0 }, again = { 0 };
	struct cpuset same;

	cpulist_format(set->words, set->word_count, &list);
	fuzz_require(cpulist_parse(text_string(&list), &same) == 0);
	fuzz_require(cpuset_count(&same) == cpuset_count(set));
	cpulist_format(same.words, same.word_count, &again);
	fuzz_require(strcmp(text_string(&list), text_string(&again)) == 0);
	cpuset_intersect(&same, set);
	fuzz_require(cpuset_count(&same) == cpuset_count(set));
	cpuset_clear(&same);
	text_free(&list);
	text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct cpuset set;

	if (cpulist_parse(text, &set) == 0) {
		check_canonical(&set);
		cpuset_clear(&set);
	}
	free(text);
	return 0;
}
