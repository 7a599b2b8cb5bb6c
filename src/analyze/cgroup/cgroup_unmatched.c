/* SPDX-License-Identifier: MIT */
#include "analyze/cgroup/cgroup_unmatched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cgroup/cgroup_match.h"
#include "analyze/compare/comparison.h"
#include "analyze/match/census.h"
#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

/* What a side has in the cgroups of one class. */
struct tally {
	double tasks, run_time_ns, rss_bytes;
	bool has_run_time, has_rss;
};

struct finder {
	const struct compare_side *sides;
	struct census *census;
	struct tally *tallies[SIDES]; /* by class */
	size_t classes;
	struct cgroup_types types;
};

static void finder_clear(struct finder *finder)
{
	census_free(finder->census);
	arena_clear(&finder->types.arena);
	free(finder->tallies[0]);
	free(finder->tallies[1]);
}

void cgroup_unmatched_clear(struct unmatched_cgroups *unmatched)
{
	array_free(&unmatched->items);
	arena_clear(&unmatched->arena);
}

/* Adds the tasks of a snapshot that is one of so many of its side. */
static void count_snapshot(const struct finder *finder, const struct snapshot *snapshot,
			   struct tally *tallies, double of)
{
	const struct counted *counted = census_counted(finder->census, snapshot);
	double seconds = snapshot->interval_ns ? (double)snapshot->interval_ns / 1e9 : 1;

	for (uint32_t task = 0; task < snapshot->task_count; task++) {
		struct tally *tally =
			&tallies[counted_class(counted, &axes[AXIS_CGROUP], 0, task)];
		uint32_t process = snapshot->tasks[task].process;
		uint64_t value;

		tally->tasks += (!snapshot->interval_ns || snapshot->tasks[task].tid) / of;
		if (snapshot_get(snapshot, METRIC_run_time_ns, task, &value)) {
			tally->run_time_ns += (double)value / seconds / of;
			tally->has_run_time = true;
		}
		if (snapshot->processes[process].first_task == task &&
		    snapshot_get(snapshot, METRIC_rss_bytes, process, &value)) {
			tally->rss_bytes += (double)value / of;
			tally->has_rss = true;
		}
	}
}

static int count_side(struct finder *finder, int side)
{
	const struct compare_side *of = &finder->sides[side];

	finder->tallies[side] = calloc(finder->classes + 1, sizeof(struct tally));
	if (!finder->tallies[side])
		return -ENOMEM;
	for (size_t i = 0; i < of->count; i++)
		count_snapshot(finder, of->snapshots[i], finder->tallies[side],
			       (double)of->count);
	return 0;
}

static int compare_key(const void *key, const void *cgroup)
{
	return strcmp(key, ((const struct typed_cgroup *)cgroup)->key);
}

static bool is_renamed(const struct finder *finder, const char *key)
{
	const struct typed_cgroup *found = NULL;

	if (finder->types.count)
		found = bsearch(key, finder->types.cgroups, finder->types.count, sizeof(*found),
				compare_key);
	return found && found->match;
}

/* The side that alone has tasks in the class; -1: both, or none. */
static int lone_side(const struct finder *finder, size_t class)
{
	bool before = finder->tallies[0][class].tasks > 0;
	bool after = finder->tallies[1][class].tasks > 0;

	return before == after ? -1 : after;
}

/* Only where both sides have cgroups of their own, one can be the other's under a new name. */
static int find_renamed(struct finder *finder, const struct compare_options *options)
{
	bool has[SIDES] = { false };

	for (size_t i = 0; i < finder->classes; i++)
		if (lone_side(finder, i) >= 0)
			has[lone_side(finder, i)] = true;
	return has[0] && has[1] ? cgroup_match(finder->sides, &options->grouping, &finder->types) :
				  0;
}

static int add_lone(const struct finder *finder, size_t class, int side,
		    struct unmatched_cgroups *ret)
{
	const struct tally *tally = &finder->tallies[side][class];
	const char *key = census_class_key(finder->census, 0, (uint32_t)class);
	struct unmatched_cgroup cgroup = {
		.is_after = side,
		.tasks = (uint32_t)(tally->tasks + 0.999),
		.has_run_time = tally->has_run_time,
		.has_rss = tally->has_rss,
		.run_time_ns = (uint64_t)tally->run_time_ns,
		.rss_bytes = (uint64_t)tally->rss_bytes,
	};

	if (!key[0] || is_renamed(finder, key))
		return 0;
	cgroup.key = arena_copy(&ret->arena, key, strlen(key));
	return cgroup.key ? array_append(&ret->items, cgroup) : -ENOMEM;
}

static int compare_cgroups(const void *first, const void *second)
{
	const struct unmatched_cgroup *a = first, *b = second;

	if (a->is_after != b->is_after)
		return a->is_after ? 1 : -1;
	if (a->tasks != b->tasks)
		return a->tasks > b->tasks ? -1 : 1;
	return strcmp(a->key, b->key);
}

/* Whether the sides could have had the same cgroups. */
static bool are_comparable(const struct compare_side *sides)
{
	const struct fact *first = &sides[0].snapshots[0]->facts[FACT_filter];

	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; i < sides[side].count; i++) {
			const struct fact *filter = &sides[side].snapshots[i]->facts[FACT_filter];

			if (filter->present != first->present ||
			    (filter->present && strcmp(filter->text, first->text) != 0))
				return false;
		}
	return true;
}

static int find(struct finder *finder, const struct compare_options *options,
		struct unmatched_cgroups *ret)
{
	int status = census_of_sides(AXIS_CGROUP, &options->grouping, finder->sides,
				     &finder->census);

	if (status < 0)
		return status;
	finder->classes = census_class_count(finder->census, 0);
	for (int side = 0; side < SIDES && status == 0; side++)
		status = count_side(finder, side);
	if (status == 0)
		status = find_renamed(finder, options);
	for (size_t i = 0; i < finder->classes && status == 0; i++)
		if (lone_side(finder, i) >= 0)
			status = add_lone(finder, i, lone_side(finder, i), ret);
	return status;
}

int cgroup_unmatched_find(struct unmatched_cgroups *unmatched, const struct compare_side *before,
			   const struct compare_side *after, const struct compare_options *options)
{
	struct compare_side sides[SIDES] = { *before, *after };
	CLEANUP(finder_clear) struct finder finder = { .sides = sides };
	int status = are_comparable(sides) ? find(&finder, options, unmatched) : 0;

	if (status == 0 && unmatched->items.count)
		array_sort(&unmatched->items, compare_cgroups);
	return status;
}
