/* SPDX-License-Identifier: MIT */
/*
 * Finds cgroups that were renamed: which cgroup of A is which of B, when
 * neither side has the other's key.
 *
 * A cgroup is recognised by its threads: its type set is the patterns of the
 * process and thread names in it.  Two cgroups are the same when
 *
 *	they share at least 10 types, and 90 % of all types that either has; or
 *	their sets are equal, however small, their last segments are alike (equal, or
 *	begin with the same word), and no other cgroup of either side fits as well; or
 *	they are at the same place below two that match, and share half their types.
 *
 * Each is matched once.  The order of tasks does not change the result.  Which
 * side is called A changes it only where more than 32 others fit one equally
 * well.
 *
 *	cgroup_match(sides, &options->grouping, &types);
 *	before = cgroup_match_find(&types, group->cgroup);	(a group of B)
 *	if (before)
 *		cgroup_match_append_key(before, group, &key);	(what A calls it)
 *	arena_clear(&types.arena);
 *
 * Time and memory grow with the number of tasks, not of pairs.
 */
#ifndef ANALYZE_CGROUP_MATCH_H
#define ANALYZE_CGROUP_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/arena.h"

struct compare_side;
struct group;
struct grouping_options;
struct text;

/* A cgroup that only one side has, with the kinds of threads in it. */
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

/*
 * NULL options mean the defaults.  Returns 0, -ENOMEM, or the error of
 * census_new() for the options; clear the arena either way.
 */
int cgroup_match(const struct compare_side *sides, const struct grouping_options *options,
		 struct cgroup_types *ret);

/*
 * The key in A of a cgroup of B, such as group->cgroup; NULL when it has no
 * match.  NULL is allowed and has none.
 */
const char *cgroup_match_find(const struct cgroup_types *types, const char *after);

/* Appends the key that a group of B has in A, on the axes cgroup and all. */
void cgroup_match_append_key(const char *before, const struct group *group, struct text *out);

/* The steps of a match.  All return 0 or -ENOMEM. */
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
