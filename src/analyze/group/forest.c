/* SPDX-License-Identifier: MIT */
#include "analyze/group/forest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group/group.h"
#include "base/collection/arena.h"
#include "model/snapshot/snapshot.h"

#define NONE UINT32_MAX

/* All arrays are by group, in the order that the groups have. */
struct forest {
	struct arena arena;
	struct grouping *grouping;
	uint32_t *parent, *first_child, *next;
	uint32_t *of_process; /* by process: its group */
	bool *is_placed;
	struct group *ordered;
	uint32_t *depths;
	size_t placed;
};

static int forest_init(struct forest *forest)
{
	size_t groups = forest->grouping->group_count;
	size_t processes = forest->grouping->snapshot->process_count;

	if (arena_array(&forest->arena, forest->parent, groups) < 0 ||
	    arena_array(&forest->arena, forest->first_child, groups) < 0 ||
	    arena_array(&forest->arena, forest->next, groups) < 0 ||
	    arena_array(&forest->arena, forest->is_placed, groups) < 0 ||
	    arena_array(&forest->arena, forest->ordered, groups) < 0 ||
	    arena_array(&forest->arena, forest->of_process, processes) < 0)
		return -ENOMEM;
	memset(forest->first_child, 0xff, groups * sizeof(*forest->first_child));
	memset(forest->of_process, 0xff, processes * sizeof(*forest->of_process));
	forest->depths = calloc(groups + 1, sizeof(*forest->depths));
	return forest->depths ? 0 : -ENOMEM;
}

static uint32_t process_of(const struct forest *forest, size_t group)
{
	const struct grouping *grouping = forest->grouping;

	return grouping->snapshot->tasks[grouping->rows[grouping->groups[group].first]].process;
}

/* Finds parents; from the last group to the first, so that lists of children keep the order. */
static void link_groups(struct forest *forest)
{
	const struct snapshot *snapshot = forest->grouping->snapshot;
	uint32_t groups = (uint32_t)forest->grouping->group_count;

	for (uint32_t i = 0; i < groups; i++)
		forest->of_process[process_of(forest, i)] = i;
	for (uint32_t i = groups; i-- > 0;) {
		int32_t tgid = snapshot_parent(snapshot, process_of(forest, i));
		int64_t row = tgid ? snapshot_find_process(snapshot, tgid) : -1;
		uint32_t parent = row < 0 ? NONE : forest->of_process[row];

		forest->parent[i] = parent == i ? NONE : parent;
		if (forest->parent[i] == NONE)
			continue;
		forest->next[i] = forest->first_child[parent];
		forest->first_child[parent] = i;
	}
}

static void place(struct forest *forest, uint32_t group, uint32_t depth)
{
	forest->is_placed[group] = true;
	forest->depths[forest->placed] = depth;
	forest->ordered[forest->placed++] = forest->grouping->groups[group];
}

/* The next group that is not placed yet, in a list of children. */
static uint32_t unplaced(const struct forest *forest, uint32_t group)
{
	while (group != NONE && forest->is_placed[group])
		group = forest->next[group];
	return group;
}

/* Places a group and all below it, without recursion: a chain of parents may be long. */
static void place_tree(struct forest *forest, uint32_t root)
{
	uint32_t at = root, depth = 0;

	place(forest, root, depth);
	for (;;) {
		uint32_t child = unplaced(forest, forest->first_child[at]);

		if (child != NONE) {
			/* Those before it are placed: a parent of many is not read again for each. */
			forest->first_child[at] = child;
			at = child;
			place(forest, at, ++depth);
		} else if (at == root) {
			return;
		} else {
			at = forest->parent[at];
			depth--;
		}
	}
}

int forest_order(struct grouping *grouping, uint32_t **ret_depths)
{
	struct forest forest = { .grouping = grouping };
	int status = forest_init(&forest);

	if (status == 0) {
		link_groups(&forest);
		for (uint32_t i = 0; i < grouping->group_count; i++)
			if (forest.parent[i] == NONE)
				place_tree(&forest, i);
		for (uint32_t i = 0; i < grouping->group_count; i++)
			if (!forest.is_placed[i])
				place_tree(&forest, i);
		memcpy(grouping->groups, forest.ordered,
		       grouping->group_count * sizeof(*grouping->groups));
		*ret_depths = forest.depths;
	}
	arena_clear(&forest.arena);
	return status;
}
