/* SPDX-License-Identifier: MIT */
/*
 * Cgroups that have nearly the same types.
 *
 * Comparing all pairs would take too long.  Two sets that share nine tenths of
 * all their types must share one of the rarest tenth of each (and one more), so
 * only those types are looked up, in an index of the cgroups that have them.
 * When many fit equally well, any of them is good enough: at most
 * CANDIDATES_MAX are tried for each cgroup.  Each search begins in a list where
 * the search before it did not, so that not all try the same ones.
 */
#include "analyze/cgroup/cgroup_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"

#define CANDIDATES_MAX 32
#define ALIKE_PERCENT 90

struct candidate {
	struct typed_cgroup *before, *after;
	uint32_t shared, either;
	unsigned likeness; /* of names */
};

struct search {
	struct cgroup_types *types;
	uint32_t *starts;   /* of each type's list in `owners`, and the end of the last */
	uint32_t *owners;   /* numbers of cgroups of A, by type */
	uint32_t *turns;    /* of each type: how often its list was searched */
	uint32_t *tried_by; /* of each cgroup of A: the last of B that tried it, plus one */
	ARRAY_OF(struct candidate) candidates;
};

static void search_clear(struct search *search)
{
	array_free(&search->candidates);
}

static bool is_searched(const struct typed_cgroup *cgroup)
{
	return !cgroup->match && cgroup->count >= CGROUP_TYPES_ENOUGH;
}

/* A cgroup that is alike has at least one of so many rarest types. */
static uint32_t rarest(const struct typed_cgroup *cgroup)
{
	uint32_t needed = (uint32_t)(((uint64_t)cgroup->count * ALIKE_PERCENT + 99) / 100);

	return cgroup->count - needed + 1;
}

static bool is_indexed(const struct typed_cgroup *cgroup)
{
	return is_searched(cgroup) && !cgroup->is_after;
}

static int index_owners(struct search *search)
{
	struct cgroup_types *types = search->types;
	uint32_t total = 0;

	if (arena_array(&types->arena, search->starts, types->type_count) < 0 ||
	    arena_array(&types->arena, search->turns, types->type_count) < 0 ||
	    arena_array(&types->arena, search->tried_by, types->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < types->count; i++)
		for (uint32_t t = 0;
		     is_indexed(&types->cgroups[i]) && t < rarest(&types->cgroups[i]); t++, total++)
			search->starts[types->cgroups[i].types[t]]++;
	if (arena_array(&types->arena, search->owners, total) < 0)
		return -ENOMEM;
	/* Counts become list ends; filling the lists from the back turns the ends into starts. */
	for (uint32_t t = 0; t < types->type_count; t++)
		search->starts[t] += t ? search->starts[t - 1] : 0;
	search->starts[types->type_count] = total;
	for (size_t i = types->count; i-- > 0;)
		for (uint32_t t = 0;
		     is_indexed(&types->cgroups[i]) && t < rarest(&types->cgroups[i]); t++)
			search->owners[--search->starts[types->cgroups[i].types[t]]] = (uint32_t)i;
	return 0;
}

static unsigned name_likeness(const struct typed_cgroup *a, const struct typed_cgroup *b)
{
	if (!*a->word || strcmp(a->word, b->word) != 0)
		return 0;
	return strcmp(a->leaf, b->leaf) == 0 ? 2 : 1;
}

static int try_pair(struct search *search, struct typed_cgroup *before, struct typed_cgroup *after)
{
	struct candidate candidate = { .before = before, .after = after };

	candidate.shared = cgroup_types_shared(before, after);
	candidate.either = cgroup_types_either(before, after, candidate.shared);
	if (candidate.shared < CGROUP_TYPES_ENOUGH ||
	    (uint64_t)candidate.shared * 100 < (uint64_t)candidate.either * ALIKE_PERCENT)
		return 0;
	candidate.likeness = name_likeness(before, after);
	return array_append(&search->candidates, candidate);
}

/* Tries cgroups that have the type, at most `left` of them. */
static int try_owners(struct search *search, uint32_t number, uint32_t type, unsigned *left)
{
	struct typed_cgroup *cgroups = search->types->cgroups;
	const uint32_t *owners = &search->owners[search->starts[type]];
	uint32_t count = search->starts[type + 1] - search->starts[type];
	uint32_t turn = search->turns[type]++;
	int status = 0;

	for (uint32_t i = 0; i<count && * left> 0 && status == 0; i++) {
		uint32_t owner = owners[(turn + i) % count];

		if (search->tried_by[owner] == number + 1)
			continue;
		search->tried_by[owner] = number + 1;
		(*left)--;
		status = try_pair(search, &cgroups[owner], &cgroups[number]);
	}
	return status;
}

static int find_candidates(struct search *search)
{
	struct cgroup_types *types = search->types;
	int status = 0;

	for (uint32_t i = 0; i < types->count; i++) {
		const struct typed_cgroup *cgroup = &types->cgroups[i];
		unsigned left = CANDIDATES_MAX;

		if (!is_searched(cgroup) || !cgroup->is_after)
			continue;
		for (uint32_t t = 0; t < rarest(cgroup) && left > 0 && status == 0; t++)
			status = try_owners(search, i, cgroup->types[t], &left);
	}
	return status;
}

static int compare_pointers(const struct typed_cgroup *a, const struct typed_cgroup *b)
{
	return a < b ? -1 : a > b;
}

/* The most alike first; equal ones by their keys, whichever side has them. */
static int compare_candidates(const void *first, const void *second)
{
	const struct candidate *a = first, *b = second;
	uint64_t a_share = (uint64_t)a->shared * b->either;
	uint64_t b_share = (uint64_t)b->shared * a->either;
	const struct typed_cgroup *a_low = a->before < a->after ? a->before : a->after;
	const struct typed_cgroup *b_low = b->before < b->after ? b->before : b->after;
	int order;

	if (a_share != b_share)
		return a_share > b_share ? -1 : 1;
	if (a->likeness != b->likeness)
		return a->likeness > b->likeness ? -1 : 1;
	order = compare_pointers(a_low, b_low);
	return order ? order :
		       compare_pointers(a_low == a->before ? a->after : a->before,
					b_low == b->before ? b->after : b->before);
}

int cgroup_types_join_near(struct cgroup_types *types)
{
	CLEANUP(search_clear) struct search search = { .types = types };

	if (index_owners(&search) < 0 || find_candidates(&search) < 0)
		return -ENOMEM;
	array_sort(&search.candidates, compare_candidates);
	for (size_t i = 0; i < search.candidates.count; i++) {
		const struct candidate *candidate = &search.candidates.data[i];

		if (!candidate->before->match && !candidate->after->match)
			cgroup_types_join(candidate->before, candidate->after);
	}
	return 0;
}
