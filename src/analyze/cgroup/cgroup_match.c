/* SPDX-License-Identifier: MIT */
#include "analyze/cgroup/cgroup_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group/group.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"

static int compare_sets(const struct typed_cgroup *a, const struct typed_cgroup *b)
{
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	return memcmp(a->types, b->types, a->count * sizeof(*a->types));
}

/* Which name of a cgroup is compared, and by what it counts as equal. */
enum naming {
	NAMING_LEAF,
	NAMING_WORD,
	NAMING_NONE,
	NAMING_COUNT,
};

static int compare_named(const struct typed_cgroup *a, const struct typed_cgroup *b,
			 enum naming naming)
{
	switch (naming) {
	case NAMING_LEAF:
		return strcmp(a->leaf, b->leaf);
	case NAMING_WORD:
		return strcmp(a->word, b->word);
	case NAMING_NONE:
	case NAMING_COUNT:
		break;
	}
	return 0;
}

/* By set, name, side and key: those that fit are together, first A's, then B's. */
static int compare_for_pairing(const void *first, const void *second, void *context)
{
	const struct typed_cgroup *a = *(struct typed_cgroup *const *)first;
	const struct typed_cgroup *b = *(struct typed_cgroup *const *)second;
	int order = compare_sets(a, b);

	if (!order)
		order = compare_named(a, b, *(const enum naming *)context);
	if (!order)
		order = a->is_after - b->is_after;
	return order ? order : (a < b ? -1 : a > b);
}

/*
 * Pairs cgroups of equal sets and equal names.  The first `before` are of A,
 * the others of B.  Cgroups with few types are paired only when neither fits
 * any other.
 */
static void pair_equal(struct typed_cgroup **cgroups, size_t before, size_t after,
		       enum naming naming)
{
	bool enough = cgroups[0]->count >= CGROUP_TYPES_ENOUGH;
	size_t pairs = before < after ? before : after;

	if (!enough && (naming == NAMING_NONE || !*cgroups[0]->word || before + after != 2))
		return;
	for (size_t i = 0; i < pairs; i++)
		cgroup_types_join(cgroups[i], cgroups[before + i]);
}

static size_t take_unmatched(struct cgroup_types *types, struct typed_cgroup **list)
{
	size_t count = 0;

	for (size_t i = 0; i < types->count; i++)
		if (!types->cgroups[i].match)
			list[count++] = &types->cgroups[i];
	return count;
}

static void join_equal_named(struct cgroup_types *types, struct typed_cgroup **list,
			     enum naming naming)
{
	size_t count = take_unmatched(types, list);
	size_t start = 0;

	qsort_r(list, count, sizeof(struct typed_cgroup *), compare_for_pairing, &naming);
	while (start < count) {
		size_t before = 0, end = start;

		for (; end < count && compare_sets(list[start], list[end]) == 0 &&
		       compare_named(list[start], list[end], naming) == 0;
		     end++)
			before += !list[end]->is_after;
		pair_equal(list + start, before, end - start - before, naming);
		start = end;
	}
}

static int join_equal(struct cgroup_types *types)
{
	struct typed_cgroup **list;

	if (arena_array(&types->arena, list, types->count) < 0)
		return -ENOMEM;
	for (int naming = 0; naming < NAMING_COUNT; naming++)
		join_equal_named(types, list, (enum naming)naming);
	return 0;
}

/* The keys of two cgroups that match, without the last segments that they share. */
struct roots {
	const char *before, *after; /* the keys they are of */
	size_t before_length, after_length;
};

/* Bytes before the last segment of a path's first `length`; 0 when it has no parent. */
static size_t parent_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] != '/')
		length--;
	return length > 0 ? length - 1 : 0;
}

static struct roots roots_of(const struct typed_cgroup *after)
{
	struct roots roots = { .before = after->match->key, .after = after->key };

	roots.before_length = strlen(roots.before);
	roots.after_length = strlen(roots.after);
	while (roots.before_length > 0 && roots.after_length > 0) {
		size_t before = parent_length(roots.before, roots.before_length);
		size_t last = parent_length(roots.after, roots.after_length);
		size_t length = roots.after_length - last;

		if (roots.before_length - before != length ||
		    memcmp(roots.before + before, roots.after + last, length) != 0)
			break;
		roots.before_length = before;
		roots.after_length = last;
	}
	return roots;
}

static int compare_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	if (order)
		return order;
	return a_length < b_length ? -1 : a_length > b_length;
}

static int compare_root(const void *first, const void *second)
{
	const struct roots *a = first, *b = second;

	return compare_bytes(a->after, a->after_length, b->after, b->after_length);
}

/* By the root in B; among several for one root, that of the first key comes first. */
static int compare_roots(const void *first, const void *second)
{
	int order = compare_root(first, second);

	return order ? order :
		       strcmp(((const struct roots *)first)->after,
			      ((const struct roots *)second)->after);
}

struct places {
	ARRAY_OF(struct roots) roots; /* each root in B once, in order */
	struct text key;
};

static void places_clear(struct places *places)
{
	array_free(&places->roots);
	text_free(&places->key);
}

static int find_roots(const struct cgroup_types *types, struct places *places)
{
	struct roots *roots;
	size_t kept = 0;

	for (size_t i = 0; i < types->count; i++)
		if (types->cgroups[i].is_after && types->cgroups[i].match &&
		    array_append(&places->roots, roots_of(&types->cgroups[i])) < 0)
			return -ENOMEM;
	roots = places->roots.data;
	if (places->roots.count)
		qsort(roots, places->roots.count, sizeof(*roots), compare_roots);
	for (size_t i = 0; i < places->roots.count; i++)
		if (kept == 0 || compare_root(&roots[kept - 1], &roots[i]) != 0)
			roots[kept++] = roots[i];
	places->roots.count = kept;
	return 0;
}

static const struct roots *find_root(const struct places *places, const char *path, size_t length)
{
	struct roots wanted = { .after = path, .after_length = length };

	return array_find(&places->roots, &wanted, compare_root);
}

static int compare_key(const void *key, const void *cgroup)
{
	return strcmp(key, ((const struct typed_cgroup *)cgroup)->key);
}

/* The cgroup of A whose path below its root equals that of `after` below its own; NULL if none. */
static struct typed_cgroup *find_counterpart(struct cgroup_types *types, struct places *places,
					     const struct roots *roots,
					     const struct typed_cgroup *after)
{
	struct typed_cgroup *found;

	text_clear(&places->key);
	text_append(&places->key, roots->before, roots->before_length);
	text_append_string(&places->key, after->key + roots->after_length);
	if (places->key.failed)
		return NULL;
	found = bsearch(text_string(&places->key), types->cgroups, types->count,
			sizeof(*types->cgroups), compare_key);
	return found && !found->is_after && !found->match ? found : NULL;
}

static bool shares_half(const struct typed_cgroup *a, const struct typed_cgroup *b)
{
	uint32_t shared = cgroup_types_shared(a, b);

	return (uint64_t)shared * 2 >= cgroup_types_either(a, b, shared);
}

/* Tries the roots above a cgroup, the nearest first. */
static void join_by_place(struct cgroup_types *types, struct places *places,
			  struct typed_cgroup *after)
{
	size_t length = strlen(after->key);

	while (length > 0) {
		const struct roots *roots;
		struct typed_cgroup *before;

		length = parent_length(after->key, length);
		roots = find_root(places, after->key, length);
		before = roots ? find_counterpart(types, places, roots, after) : NULL;
		if (before && shares_half(before, after)) {
			cgroup_types_join(before, after);
			return;
		}
	}
}

static int join_places(struct cgroup_types *types)
{
	CLEANUP(places_clear) struct places places = { 0 };

	if (find_roots(types, &places) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < types->count; i++)
		if (types->cgroups[i].is_after && !types->cgroups[i].match)
			join_by_place(types, &places, &types->cgroups[i]);
	return places.key.failed ? -ENOMEM : 0;
}

int cgroup_match(const struct compare_side *sides, const struct grouping_options *options,
		 struct cgroup_types *ret)
{
	int status = cgroup_types_collect(sides, options, ret);

	if (status == 0)
		status = join_equal(ret);
	if (status == 0)
		status = cgroup_types_join_near(ret);
	return status < 0 ? status : join_places(ret);
}

const char *cgroup_match_find(const struct cgroup_types *types, const char *after)
{
	const struct typed_cgroup *found = NULL;

	if (after && types->count)
		found = bsearch(after, types->cgroups, types->count, sizeof(*types->cgroups),
				compare_key);
	return found && found->is_after && found->match ? found->match->key : NULL;
}

void cgroup_match_append_key(const char *before, const struct group *group, struct text *out)
{
	text_append_string(out, before);
	text_append_string(out, group->key + strlen(group->cgroup));
}
