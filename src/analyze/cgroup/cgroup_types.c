/* SPDX-License-Identifier: MIT */
#include "analyze/cgroup/cgroup_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "analyze/match/census.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/order.h"
#include "model/snapshot/snapshot.h"

enum { SIDE_BEFORE = 1, SIDE_AFTER = 2 };

/* A kind of thread seen in a cgroup; all members are classes of a census. */
struct sighting {
	uint32_t process, thread, cgroup;
};

struct kind {
	uint32_t process, thread;
	uint32_t frequency; /* cgroups that have it */
};

/* The same, with the numbers that the result uses. */
struct member {
	uint32_t cgroup, type;
};

struct collector {
	const struct compare_side *sides; /* before, after */
	struct census *cgroups, *processes, *threads;
	uint8_t *sides_of; /* by class of cgroup */
	ARRAY_OF(struct sighting) sightings;
	ARRAY_OF(struct kind) kinds;
	ARRAY_OF(struct member) members; /* cgroups still by their class */
	uint32_t *number_of_cgroup;	 /* by class: its place in the order of keys */
	uint32_t *number_of_kind;	 /* its place in the order of rarity */
	struct arena arena;
};

static void collector_clear(struct collector *collector)
{
	census_free(collector->cgroups);
	census_free(collector->processes);
	census_free(collector->threads);
	array_free(&collector->sightings);
	array_free(&collector->kinds);
	array_free(&collector->members);
	arena_clear(&collector->arena);
}

static void note_side(struct collector *collector, const struct snapshot *snapshot, uint8_t bit)
{
	const struct counted *counted = census_counted(collector->cgroups, snapshot);

	for (uint32_t task = 0; task < snapshot->task_count; task++)
		collector->sides_of[counted_class(counted, &axes[AXIS_CGROUP], 0, task)] |= bit;
}

/* An unknown path does not say which cgroup it is, so it is not one-sided. */
static bool is_one_sided(const struct collector *collector, uint32_t class)
{
	uint8_t sides = collector->sides_of[class];

	return (sides == SIDE_BEFORE || sides == SIDE_AFTER) &&
	       *census_class_key(collector->cgroups, 0, class);
}

/* Finds which side has which cgroup.  Returns whether each side has some of its own. */
static int find_sides(struct collector *collector)
{
	static const uint8_t bits[] = { SIDE_BEFORE, SIDE_AFTER };
	size_t classes = census_class_count(collector->cgroups, 0);
	uint8_t found = 0;

	if (arena_array(&collector->arena, collector->sides_of, classes) < 0)
		return -ENOMEM;
	for (size_t side = 0; side < SIDES; side++)
		for (size_t i = 0; i < collector->sides[side].count; i++)
			note_side(collector, collector->sides[side].snapshots[i], bits[side]);
	for (uint32_t class = 0; class < classes; class ++)
		if (collector->sides_of[class] && is_one_sided(collector, class))
			found |= collector->sides_of[class];
	return found == (SIDE_BEFORE | SIDE_AFTER);
}

static int compare_kinds(const struct sighting *a, const struct sighting *b)
{
	int order = compare_numbers(a->process, b->process);

	return order ? order : compare_numbers(a->thread, b->thread);
}

static int compare_sightings(const void *first, const void *second)
{
	const struct sighting *a = first, *b = second;
	int order = compare_kinds(a, b);

	return order ? order : compare_numbers(a->cgroup, b->cgroup);
}

/* Collects the kinds of the tasks in one-sided cgroups. */
static int look_at(struct collector *collector, const struct snapshot *snapshot)
{
	const struct counted *cgroups = census_counted(collector->cgroups, snapshot);
	const struct counted *processes = census_counted(collector->processes, snapshot);
	const struct counted *threads = census_counted(collector->threads, snapshot);
	struct sighting last = { .cgroup = UINT32_MAX };

	for (uint32_t task = 0; task < snapshot->task_count; task++) {
		struct sighting sighting;

		sighting.cgroup = counted_class(cgroups, &axes[AXIS_CGROUP], 0, task);
		if (!is_one_sided(collector, sighting.cgroup))
			continue;
		sighting.process = counted_class(processes, &axes[AXIS_PCOMM], 0, task);
		sighting.thread = counted_class(threads, &axes[AXIS_COMM], 0, task);
		if (compare_sightings(&last, &sighting) == 0)
			continue;
		if (array_append(&collector->sightings, sighting) < 0)
			return -ENOMEM;
		last = sighting;
	}
	return 0;
}

static int look_at_all(struct collector *collector, const struct grouping_options *options)
{
	int status = census_of_sides(AXIS_PCOMM, options, collector->sides, &collector->processes);

	if (status == 0)
		status = census_of_sides(AXIS_COMM, options, collector->sides, &collector->threads);
	for (size_t side = 0; side < SIDES; side++)
		for (size_t i = 0; status == 0 && i < collector->sides[side].count; i++)
			status = look_at(collector, collector->sides[side].snapshots[i]);
	return status;
}

/* Keeps each kind once, and each kind once in a cgroup. */
static int gather_kinds(struct collector *collector)
{
	const struct sighting *sightings = collector->sightings.data;

	array_sort(&collector->sightings, compare_sightings);
	for (size_t i = 0; i < collector->sightings.count; i++) {
		const struct sighting *sighting = &sightings[i];
		struct kind kind = { .process = sighting->process, .thread = sighting->thread };
		struct member member = { .cgroup = sighting->cgroup };

		if (i > 0 && compare_sightings(sighting - 1, sighting) == 0)
			continue;
		if ((i == 0 || compare_kinds(sighting - 1, sighting) != 0) &&
		    array_append(&collector->kinds, kind) < 0)
			return -ENOMEM;
		member.type = (uint32_t)collector->kinds.count - 1;
		collector->kinds.data[member.type].frequency++;
		if (array_append(&collector->members, member) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int compare_keys(const void *first, const void *second, void *context)
{
	const struct collector *collector = context;

	return strcmp(census_class_key(collector->cgroups, 0, *(const uint32_t *)first),
		      census_class_key(collector->cgroups, 0, *(const uint32_t *)second));
}

static int compare_rarity(const void *first, const void *second, void *context)
{
	const struct collector *collector = context;
	const struct kind *a = &collector->kinds.data[*(const uint32_t *)first];
	const struct kind *b = &collector->kinds.data[*(const uint32_t *)second];
	int order = compare_numbers(a->frequency, b->frequency);

	if (!order)
		order = strcmp(census_class_label(collector->processes, 0, a->process),
			       census_class_label(collector->processes, 0, b->process));
	return order ? order :
		       strcmp(census_class_label(collector->threads, 0, a->thread),
			      census_class_label(collector->threads, 0, b->thread));
}

/* Lists the one-sided cgroups in the order of their keys, which does not depend on that of tasks. */
static int list_cgroups(struct collector *collector, struct cgroup_types *types)
{
	size_t classes = census_class_count(collector->cgroups, 0);
	uint32_t *order;

	if (arena_array(&collector->arena, order, classes) < 0 ||
	    arena_array(&collector->arena, collector->number_of_cgroup, classes) < 0 ||
	    arena_array(&types->arena, types->cgroups, classes) < 0)
		return -ENOMEM;
	for (uint32_t class = 0; class < classes; class ++)
		if (is_one_sided(collector, class))
			order[types->count++] = class;
	qsort_r(order, types->count, sizeof(*order), compare_keys, collector);
	for (uint32_t i = 0; i < types->count; i++) {
		const char *key = census_class_key(collector->cgroups, 0, order[i]);

		types->cgroups[i].key = arena_copy(&types->arena, key, strlen(key));
		types->cgroups[i].is_after = collector->sides_of[order[i]] == SIDE_AFTER;
		if (!types->cgroups[i].key)
			return -ENOMEM;
		collector->number_of_cgroup[order[i]] = i;
	}
	return 0;
}

static int number_kinds(struct collector *collector, struct cgroup_types *types)
{
	uint32_t *order;

	types->type_count = (uint32_t)collector->kinds.count;
	if (arena_array(&collector->arena, order, types->type_count) < 0 ||
	    arena_array(&collector->arena, collector->number_of_kind, types->type_count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < types->type_count; i++)
		order[i] = i;
	qsort_r(order, types->type_count, sizeof(*order), compare_rarity, collector);
	for (uint32_t i = 0; i < types->type_count; i++)
		collector->number_of_kind[order[i]] = i;
	return 0;
}

static int compare_members(const void *first, const void *second)
{
	const struct member *a = first, *b = second;
	int order = compare_numbers(a->cgroup, b->cgroup);

	return order ? order : compare_numbers(a->type, b->type);
}

static int copy_types(struct collector *collector, struct cgroup_types *types)
{
	struct member *members = collector->members.data;
	uint32_t *lists;

	if (arena_array(&types->arena, lists, collector->members.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < collector->members.count; i++) {
		members[i].cgroup = collector->number_of_cgroup[members[i].cgroup];
		members[i].type = collector->number_of_kind[members[i].type];
	}
	qsort(members, collector->members.count, sizeof(*members), compare_members);
	for (size_t i = 0; i < collector->members.count; i++) {
		struct typed_cgroup *cgroup = &types->cgroups[members[i].cgroup];

		lists[i] = members[i].type;
		if (cgroup->count++ == 0)
			cgroup->types = &lists[i];
	}
	return 0;
}

static int collect(struct collector *collector, const struct grouping_options *options,
		   struct cgroup_types *types)
{
	int status = census_of_sides(AXIS_CGROUP, options, collector->sides, &collector->cgroups);

	if (status == 0)
		status = find_sides(collector);
	if (status <= 0)
		return status;
	status = look_at_all(collector, options);
	if (status == 0)
		status = gather_kinds(collector);
	if (status == 0)
		status = list_cgroups(collector, types);
	if (status == 0)
		status = number_kinds(collector, types);
	if (status == 0)
		status = copy_types(collector, types);
	return status < 0 ? status : cgroup_types_name(types);
}

int cgroup_types_collect(const struct compare_side *sides, const struct grouping_options *options,
			 struct cgroup_types *ret)
{
	CLEANUP(collector_clear) struct collector collector = { .sides = sides };

	*ret = (struct cgroup_types){ .count = 0 };
	return collect(&collector, options, ret);
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
