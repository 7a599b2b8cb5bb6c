/* SPDX-License-Identifier: MIT */
#include "analyze/cgroup/cgroup_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/match/census.h"
#include "analyze/compare/comparison.h"
#include "base/array.h"
#include "base/cleanup.h"
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
	const struct compare_side *sides[2];
	struct census *cgroups, *processes, *threads;
	uint8_t *sides_of; /* by class of cgroup */
	ARRAY_OF(struct sighting) sightings;
	ARRAY_OF(struct kind) kinds;
	ARRAY_OF(struct member) members; /* cgroups still by their class */
	uint32_t *number_of_cgroup;	 /* by class: its place in the order of keys */
	uint32_t *number_of_kind;	 /* its place in the order of rarity */
	size_t cgroup_count;
};

static void collector_clear(struct collector *collector)
{
	census_free(collector->cgroups);
	census_free(collector->processes);
	census_free(collector->threads);
	free(collector->sides_of);
	array_free(&collector->sightings);
	array_free(&collector->kinds);
	array_free(&collector->members);
	free(collector->number_of_cgroup);
	free(collector->number_of_kind);
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

	collector->sides_of = calloc(classes + 1, sizeof(*collector->sides_of));
	if (!collector->sides_of)
		return -ENOMEM;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < collector->sides[side]->count; i++)
			note_side(collector, collector->sides[side]->snapshots[i], bits[side]);
	for (uint32_t class = 0; class < classes; class ++)
		if (collector->sides_of[class] && is_one_sided(collector, class))
			found |= collector->sides_of[class];
	return found == (SIDE_BEFORE | SIDE_AFTER);
}

static int compare_numbers(uint32_t a, uint32_t b)
{
	return a < b ? -1 : a > b;
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
	int status = census_of_sides(AXIS_PCOMM, options, collector->sides[0], collector->sides[1],
				     &collector->processes);

	if (status == 0)
		status = census_of_sides(AXIS_COMM, options, collector->sides[0],
					 collector->sides[1], &collector->threads);
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; status == 0 && i < collector->sides[side]->count; i++)
			status = look_at(collector, collector->sides[side]->snapshots[i]);
	return status;
}

/* Keeps each kind once, and each kind once in a cgroup. */
static int gather_kinds(struct collector *collector)
{
	const struct sighting *sightings = collector->sightings.data;

	qsort(collector->sightings.data, collector->sightings.count, sizeof(*sightings),
	      compare_sightings);
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

static bool every_number(const struct collector *collector, uint32_t number)
{
	(void)collector;
	(void)number;
	return true;
}

/* Gives each wanted number below `limit` its place in the order. */
static int find_places(struct collector *collector, size_t limit,
		       bool (*is_wanted)(const struct collector *, uint32_t),
		       int (*compare)(const void *, const void *, void *), uint32_t **ret,
		       size_t *ret_count)
{
	CLEANUP(free_pointer) uint32_t *order = malloc(limit * sizeof(*order) + 1);
	uint32_t *places = malloc(limit * sizeof(*places) + 1);
	size_t found = 0;

	if (!order || !places) {
		free(places);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < limit; i++)
		if (is_wanted(collector, i))
			order[found++] = i;
	qsort_r(order, found, sizeof(*order), compare, collector);
	for (size_t i = 0; i < found; i++)
		places[order[i]] = (uint32_t)i;
	*ret = places;
	*ret_count = found;
	return 0;
}

/* Assigns numbers that do not depend on the order of tasks. */
static int find_numbers(struct collector *collector)
{
	size_t kinds;
	int status =
		find_places(collector, census_class_count(collector->cgroups, 0), is_one_sided,
			    compare_keys, &collector->number_of_cgroup, &collector->cgroup_count);

	if (status < 0)
		return status;
	return find_places(collector, collector->kinds.count, every_number, compare_rarity,
			   &collector->number_of_kind, &kinds);
}

static int copy_cgroups(struct collector *collector, struct cgroup_types *types)
{
	types->cgroups =
		arena_alloc(&types->arena, collector->cgroup_count * sizeof(*types->cgroups));
	if (!types->cgroups)
		return -ENOMEM;
	types->count = collector->cgroup_count;
	for (uint32_t class = 0; class < census_class_count(collector->cgroups, 0); class ++) {
		const char *key = census_class_key(collector->cgroups, 0, class);
		struct typed_cgroup *cgroup;

		if (!is_one_sided(collector, class))
			continue;
		cgroup = &types->cgroups[collector->number_of_cgroup[class]];
		cgroup->key = arena_copy(&types->arena, key, strlen(key));
		cgroup->is_after = collector->sides_of[class] == SIDE_AFTER;
		if (!cgroup->key)
			return -ENOMEM;
	}
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
	uint32_t *lists = arena_alloc(&types->arena, collector->members.count * sizeof(*lists));

	if (!lists)
		return -ENOMEM;
	types->type_count = (uint32_t)collector->kinds.count;
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
	int status = census_of_sides(AXIS_CGROUP, options, collector->sides[0], collector->sides[1],
				     &collector->cgroups);

	if (status == 0)
		status = find_sides(collector);
	if (status <= 0)
		return status;
	status = look_at_all(collector, options);
	if (status == 0)
		status = gather_kinds(collector);
	if (status == 0)
		status = find_numbers(collector);
	if (status == 0)
		status = copy_cgroups(collector, types);
	if (status == 0)
		status = copy_types(collector, types);
	return status < 0 ? status : cgroup_types_name(types);
}

int cgroup_types_collect(const struct compare_side *before, const struct compare_side *after,
			 const struct grouping_options *options, struct cgroup_types *ret)
{
	CLEANUP(collector_clear) struct collector collector = { .sides = { before, after } };
	struct cgroup_types types = { .count = 0 };
	int status = collect(&collector, options, &types);

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
	*types = (struct cgroup_types){ .count = 0 };
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
