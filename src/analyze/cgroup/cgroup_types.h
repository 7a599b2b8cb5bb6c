/* SPDX-License-Identifier: MIT */
/*
 * Cgroups that only one side of a comparison has, with the kinds of threads in
 * each.  This is what cgroup_match.c matches.
 */
#ifndef ANALYZE_CGROUP_TYPES_H
#define ANALYZE_CGROUP_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cgroup/cgroup_match.h"
#include "base/arena.h"

struct typed_cgroup {
	const char *key; /* never "" */
	bool is_after;
	const uint32_t *types; /* ascending, each once; the rarest have the lowest numbers */
	uint32_t count;
	const char *leaf, *word; /* pattern of its last segment with a word, and that word; or "" */
	const struct typed_cgroup *match; /* of the other side, or NULL */
};

struct cgroup_types {
	struct arena arena; /* all of it is in here */
	struct typed_cgroup *cgroups;
	size_t count;	     /* in order of their keys; 0 when a side has none of its own */
	uint32_t type_count; /* numbers are below this */
};

/* Returns 0, -ENOMEM, or the error of census_new() for the options; clear the arena either way. */
int cgroup_types_collect(const struct compare_side *sides, const struct grouping_options *options,
			 struct cgroup_types *ret);

/* Finds the leaf and word of each; cgroup_types_collect() has done so.  0 or -ENOMEM. */
int cgroup_types_name(struct cgroup_types *types);

/* How many types both have. */
uint32_t cgroup_types_shared(const struct typed_cgroup *a, const struct typed_cgroup *b);

static inline uint32_t cgroup_types_either(const struct typed_cgroup *a,
					   const struct typed_cgroup *b, uint32_t shared)
{
	return a->count + b->count - shared;
}

static inline void cgroup_types_join(struct typed_cgroup *a, struct typed_cgroup *b)
{
	a->match = b;
	b->match = a;
}

/*
 * Joins cgroups that have nearly the same types, the most alike first.  Those
 * that are already joined stay as they are.  0 or -ENOMEM.
 */
int cgroup_types_join_near(struct cgroup_types *types);

/* Fewer shared types than this are not enough to identify a cgroup. */
#define CGROUP_TYPES_ENOUGH 10

#endif
