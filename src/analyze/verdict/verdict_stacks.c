/* SPDX-License-Identifier: MIT */
/* What the stacks of threads on a CPU say of what they computed. */
#include <stdlib.h>
#include <string.h>

#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"
#include "base/cleanup.h"
#include "model/profile/profile.h"

/* How names of functions begin below which runtimes do nothing but collect garbage. */
static bool is_collecting(const char *function)
{
	static const char *const beginnings[] = {
		"v8::internal::Heap::CollectGarbage",
		"v8::internal::MarkCompact",
		"v8::internal::ConcurrentMarking",
		"v8::internal::Sweeper",
		"v8::internal::Scavenger",
		"runtime.gcBgMarkWorker", /* Go */
		"runtime.gcAssistAlloc",
		"runtime.bgsweep",
		"gc_collect_main", /* CPython */
		"gc_start",	   /* Ruby */
		"luaC_fullgc",	   /* Lua */
		"luaC_step",
		"zend_gc_run",	     /* PHP */
		"sgen_collect",	     /* Mono */
		"GC_try_to_collect", /* the collector of Boehm */
		"GC_collect_a_little",
		"caml_major_collection_slice",
		"caml_empty_minor_heap",
		"GarbageCollect", /* GHC */
	};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (strncmp(function, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* Notes for each node whether it, or one of its callers, collects.  Callers have lower numbers. */
static bool *mark_nodes(const struct profile *profile)
{
	bool *marks = calloc(profile->nodes.count + 1, sizeof(*marks));

	for (size_t i = 1; marks && i < profile->nodes.count; i++) {
		const struct profile_node *node = &profile->nodes.data[i];

		marks[i] = marks[node->parent] ||
			   is_collecting(profile_string(
				   profile, profile->frames.data[node->frame].function));
	}
	return marks;
}

double verdict_collecting_stacks(const struct profile *profile)
{
	CLEANUP(free_pointer) bool *marks = profile ? mark_nodes(profile) : NULL;
	double collecting = 0, all = 0;

	for (size_t i = 0; marks && i < profile->samples.count; i++) {
		const struct profile_sample *sample = &profile->samples.data[i];

		if (sample->kind != PROFILE_ON_CPU)
			continue;
		all += (double)sample->ns;
		if (marks[sample->node])
			collecting += (double)sample->ns;
	}
	return share_of(collecting, all);
}
