#include "analyze/cgroup_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/comparison.h"
#include "analyze/group.h"
#include "analyze/name_pattern.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/dictionary.h"
#include "base/text.h"

enum { SIDE_BEFORE = 1, SIDE_AFTER = 2 };

/* A kind of thread that a cgroup has. */
struct member {
	uint32_t cgroup, type;
};

struct collector {
	struct dictionary *keys, *names; /* of cgroups, of types */
	ARRAY_OF(uint8_t) sides;	 /* by the number of the key */
	ARRAY_OF(struct member) members;
	uint32_t *number_of_key;  /* its place among the keys of one side */
	uint32_t *number_of_name; /* its place among the types, by rarity */
	uint32_t *frequency;	  /* by the number of the name */
	size_t cgroup_count, type_count;
};

static void collector_clear(struct collector *collector)
{
	dictionary_free(collector->keys);
	dictionary_free(collector->names);
	array_free(&collector->sides);
	array_free(&collector->members);
	free(collector->number_of_key);
	free(collector->number_of_name);
	free(collector->frequency);
}

static int note_side(struct collector *collector, uint32_t key, uint8_t side)
{
	while (collector->sides.count <= key)
		if (array_append(&collector->sides, (uint8_t)0) < 0)
			return -ENOMEM;
	collector->sides.data[key] |= side;
	return 0;
}

/* Groups on the axis all are just that: a cgroup and a kind of thread in it. */
static int add_group(struct collector *collector, const struct group *group, uint8_t side)
{
	size_t length = strlen(group->cgroup);
	const char *type = group->key + length;
	struct member member;

	if (dictionary_add(collector->keys, group->cgroup, length, &member.cgroup) < 0 ||
	    dictionary_add(collector->names, type, strlen(type), &member.type) < 0 ||
	    note_side(collector, member.cgroup, side) < 0)
		return -ENOMEM;
	return array_append(&collector->members, member);
}

static int add_snapshot(struct collector *collector, struct census *census,
			const struct snapshot *snapshot, uint8_t side)
{
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	int status = grouping_new(snapshot, AXIS_ALL, census, &grouping);

	for (size_t i = 0; status == 0 && i < grouping->group_count; i++)
		status = add_group(collector, &grouping->groups[i], side);
	return status;
}

static int add_side(struct collector *collector, struct census *census,
		    const struct compare_side *side, uint8_t bit)
{
	int status = 0;

	for (size_t i = 0; i < side->count && status == 0; i++)
		status = add_snapshot(collector, census, side->snapshots[i], bit);
	return status;
}

static int count_side(struct census *census, const struct compare_side *side)
{
	int status = 0;

	for (size_t i = 0; i < side->count && status == 0; i++)
		status = census_add(census, side->snapshots[i]);
	return status;
}

static int add_sides(struct collector *collector, const struct compare_side *before,
		     const struct compare_side *after, const struct grouping_options *options)
{
	CLEANUP(census_free_pointer) struct census *census = NULL;
	int status = census_new(AXIS_ALL, options, &census);

	if (status == 0)
		status = count_side(census, before);
	if (status == 0)
		status = count_side(census, after);
	if (status == 0)
		status = add_side(collector, census, before, SIDE_BEFORE);
	if (status == 0)
		status = add_side(collector, census, after, SIDE_AFTER);
	return status;
}

/* A key that is not known says nothing of where it is. */
static bool is_one_sided(const struct collector *collector, uint32_t key)
{
	uint8_t sides = collector->sides.data[key];

	return (sides == SIDE_BEFORE || sides == SIDE_AFTER) &&
	       *dictionary_text(collector->keys, key);
}

/* Leaves the members of cgroups that one side has, if both have such. */
static void keep_one_sided(struct collector *collector)
{
	struct member *members = collector->members.data;
	size_t kept = 0;
	uint8_t sides = 0;

	for (size_t i = 0; i < collector->members.count; i++) {
		if (!is_one_sided(collector, members[i].cgroup))
			continue;
		sides |= collector->sides.data[members[i].cgroup];
		members[kept++] = members[i];
	}
	collector->members.count = sides == (SIDE_BEFORE | SIDE_AFTER) ? kept : 0;
}

static int compare_members(const void *first, const void *second)
{
	const struct member *a = first, *b = second;

	if (a->cgroup != b->cgroup)
		return a->cgroup < b->cgroup ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

/* Several snapshots of a side may have the same one. */
static void drop_repeated(struct collector *collector)
{
	struct member *members = collector->members.data;
	size_t kept = 0;

	if (collector->members.count)
		qsort(members, collector->members.count, sizeof(*members), compare_members);
	for (size_t i = 0; i < collector->members.count; i++)
		if (kept == 0 || compare_members(&members[kept - 1], &members[i]) != 0)
			members[kept++] = members[i];
	collector->members.count = kept;
}

static int compare_keys(const void *first, const void *second, void *context)
{
	const struct collector *collector = context;
	uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;

	return strcmp(dictionary_text(collector->keys, a), dictionary_text(collector->keys, b));
}

static int compare_names(const void *first, const void *second, void *context)
{
	const struct collector *collector = context;
	uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;

	if (collector->frequency[a] != collector->frequency[b])
		return collector->frequency[a] < collector->frequency[b] ? -1 : 1;
	return strcmp(dictionary_text(collector->names, a), dictionary_text(collector->names, b));
}

/* The place of each used number in an order; that of others is not told. */
static int number_used(struct collector *collector, const uint32_t *used, uint32_t count,
		       int (*compare)(const void *, const void *, void *), uint32_t **ret,
		       size_t *ret_count)
{
	CLEANUP(free_pointer) uint32_t *order = malloc(count * sizeof(*order) + 1);
	uint32_t *places = malloc(count * sizeof(*places) + 1);
	size_t found = 0;

	if (!order || !places) {
		free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		if (used[i])
			order[found++] = i;
	if (found)
		qsort_r(order, found, sizeof(*order), compare, collector);
	for (size_t i = 0; i < found; i++)
		places[order[i]] = (uint32_t)i;
	*ret = places;
	*ret_count = found;
	return 0;
}

/* Numbers that do not depend on the order of tasks take the place of the dictionaries'. */
static int renumber(struct collector *collector)
{
	uint32_t keys = dictionary_count(collector->keys);
	uint32_t names = dictionary_count(collector->names);
	CLEANUP(free_pointer) uint32_t *members_of = calloc(keys, sizeof(*members_of));
	int status;

	collector->frequency = calloc(names, sizeof(*collector->frequency));
	if (!members_of || !collector->frequency)
		return -ENOMEM;
	for (size_t i = 0; i < collector->members.count; i++) {
		members_of[collector->members.data[i].cgroup]++;
		collector->frequency[collector->members.data[i].type]++;
	}
	status = number_used(collector, members_of, keys, compare_keys, &collector->number_of_key,
			     &collector->cgroup_count);
	if (status < 0)
		return status;
	return number_used(collector, collector->frequency, names, compare_names,
			   &collector->number_of_name, &collector->type_count);
}

static int copy_cgroups(struct collector *collector, struct cgroup_types *types)
{
	types->cgroups =
		arena_alloc(&types->arena, collector->cgroup_count * sizeof(*types->cgroups));
	if (!types->cgroups)
		return -ENOMEM;
	types->count = collector->cgroup_count;
	types->type_count = (uint32_t)collector->type_count;
	for (size_t i = 0; i < collector->members.count; i++) {
		struct member *member = &collector->members.data[i];
		const char *key = dictionary_text(collector->keys, member->cgroup);
		bool is_after = collector->sides.data[member->cgroup] == SIDE_AFTER;
		struct typed_cgroup *cgroup;

		member->cgroup = collector->number_of_key[member->cgroup];
		member->type = collector->number_of_name[member->type];
		cgroup = &types->cgroups[member->cgroup];
		if (!cgroup->key)
			cgroup->key = arena_copy(&types->arena, key, strlen(key));
		if (!cgroup->key)
			return -ENOMEM;
		cgroup->is_after = is_after;
	}
	return 0;
}

static int copy_types(struct collector *collector, struct cgroup_types *types)
{
	struct member *members = collector->members.data;
	uint32_t *lists = arena_alloc(&types->arena, collector->members.count * sizeof(*lists));

	if (!lists)
		return -ENOMEM;
	qsort(members, collector->members.count, sizeof(*members), compare_members);
	for (size_t i = 0; i < collector->members.count; i++) {
		struct typed_cgroup *cgroup = &types->cgroups[members[i].cgroup];

		lists[i] = members[i].type;
		if (cgroup->count++ == 0)
			cgroup->types = &lists[i];
	}
	return 0;
}

/*
 * What a cgroup is called: the pattern of its last segment that has a word, and
 * the first word of that.  A segment that is an id says nothing.
 */
static size_t word_start(const char *segment, size_t length)
{
	size_t i = 0;

	while (i < length) {
		if (segment[i] == '{' && i + 2 < length && segment[i + 2] == '}')
			i += 3;
		else if ((segment[i] | 32) >= 'a' && (segment[i] | 32) <= 'z')
			break;
		else
			i++;
	}
	return i;
}

static size_t word_length(const char *word, size_t limit)
{
	size_t length = 0;

	while (length < limit && (word[length] | 32) >= 'a' && (word[length] | 32) <= 'z')
		length++;
	return length;
}

static int name_cgroup(struct cgroup_types *types, struct typed_cgroup *cgroup, struct text *text)
{
	size_t end, start, word;

	text_clear(text);
	name_pattern_cgroup(cgroup->key, text);
	if (text->failed)
		return -ENOMEM;
	for (end = text->length;; end = start - 1) {
		for (start = end; start > 0 && text->data[start - 1] != '/'; start--)
			;
		word = start + word_start(text->data + start, end - start);
		if (word < end || start == 0)
			break;
	}
	cgroup->leaf = arena_copy(&types->arena, text->data + start, end - start);
	cgroup->word = arena_copy(&types->arena, text->data + word,
				  word_length(text->data + word, end - word));
	return cgroup->leaf && cgroup->word ? 0 : -ENOMEM;
}

static int name_cgroups(struct cgroup_types *types)
{
	CLEANUP(text_free) struct text text = { 0 };
	int status = 0;

	for (size_t i = 0; i < types->count && status == 0; i++)
		status = name_cgroup(types, &types->cgroups[i], &text);
	return status;
}

static int collect(struct collector *collector, const struct compare_side *before,
		   const struct compare_side *after, const struct grouping_options *options,
		   struct cgroup_types *types)
{
	int status;

	collector->keys = dictionary_new();
	collector->names = dictionary_new();
	if (!collector->keys || !collector->names)
		return -ENOMEM;
	status = add_sides(collector, before, after, options);
	if (status < 0)
		return status;
	keep_one_sided(collector);
	drop_repeated(collector);
	if (collector->members.count == 0)
		return 0;
	if (renumber(collector) < 0 || copy_cgroups(collector, types) < 0 ||
	    copy_types(collector, types) < 0)
		return -ENOMEM;
	return name_cgroups(types);
}

int cgroup_types_collect(const struct compare_side *before, const struct compare_side *after,
			 const struct grouping_options *options, struct cgroup_types *ret)
{
	CLEANUP(collector_clear) struct collector collector = { 0 };
	struct cgroup_types types = { 0 };
	int status = collect(&collector, before, after, options, &types);

	if (status < 0) {
		cgroup_types_clear(&types);
		return status;
	}
	*ret = types;
	return 0;
}

void cgroup_types_clear(struct cgroup_types *types)
{
	arena_clear(&types->arena);
	*types = (struct cgroup_types){ 0 };
}

uint32_t cgroup_types_shared(const struct typed_cgroup *a, const struct typed_cgroup *b)
{
	uint32_t shared = 0;

	for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
		if (a->types[i] == b->types[j])
			shared++;
		if (a->types[i] <= b->types[j])
			i++;
		else
			j++;
	}
	return shared;
}
