/* SPDX-License-Identifier: MIT */
/*
 * Which groups of an interval moved.  On most hosts most threads sleep: their groups have the same
 * members with the same values on both sides, whatever the metric, and need not be folded.
 */
#include <errno.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

/* A row of B in a group that has not moved so far, and its row of A. */
struct still_row {
	uint32_t before, after, group;
};

struct search {
	const struct compare_layout *layout;
	struct arena arena;
	uint8_t *moved; /* by group */
	struct still_row *rows;
	size_t count;
};

static void search_clear(struct search *search)
{
	arena_clear(&search->arena);
}

/* Members that came, went, or changed their group. */
static int find_still_rows(struct search *search, enum metric_scope scope)
{
	const struct member_rows *old = &search->layout->runs[0].rows[scope];
	const struct member_rows *new = &search->layout->runs[1].rows[scope];
	const uint32_t *before_of = search->layout->before_of[scope];

	search->count = 0;
	if (arena_array(&search->arena, search->rows, new->count) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < new->count; row++) {
		uint32_t before = before_of[row], group = new->group_of[row];

		if (!join_is_row(before) || old->group_of[before] != group) {
			search->moved[group] = 1;
			if (join_is_row(before))
				search->moved[old->group_of[before]] = 1;
		} else if (!search->moved[group]) {
			search->rows[search->count++] = (struct still_row){ before, row, group };
		}
	}
	return 0;
}

static void drop_moved(struct search *search)
{
	size_t count = 0;

	for (size_t i = 0; i < search->count; i++)
		if (!search->moved[search->rows[i].group])
			search->rows[count++] = search->rows[i];
	search->count = count;
}

/* Numbers of texts differ from snapshot to snapshot. */
static bool is_same_text(const struct compare_layout *layout, uint64_t before, uint64_t after)
{
	return strcmp(snapshot_text(layout->runs[0].snapshot, (uint32_t)before),
		      snapshot_text(layout->runs[1].snapshot, (uint32_t)after)) == 0;
}

/* A metric that only one side measured moved everywhere. */
static void find_changed_rows(struct search *search, const struct metric *metric)
{
	struct column old = *compare_column(&search->layout->runs[0], metric);
	struct column new = *compare_column(&search->layout->runs[1], metric);
	bool is_text = metric->kind == KIND_CPUSET, has_moved = false;

	if (!old.values && !new.values)
		return;
	for (size_t i = 0; i < search->count; i++) {
		struct still_row row = search->rows[i];

		if (old.values && new.values && old.states[row.before] == new.states[row.after] &&
		    (is_text ? is_same_text(search->layout, old.values[row.before],
					    new.values[row.after]) :
			       old.values[row.before] == new.values[row.after]))
			continue;
		search->moved[row.group] = 1;
		has_moved = true;
	}
	if (has_moved)
		drop_moved(search);
}

static int find_moved(struct search *search)
{
	static const enum metric_scope scopes[] = { METRIC_OF_THREAD, METRIC_OF_PROCESS };
	const struct compare_layout *layout = search->layout;
	const uint32_t *was = layout->runs[0].rows[METRIC_OF_THREAD].group_of;
	const struct join *join = &layout->join;
	int status = arena_array(&search->arena, search->moved, layout->group_count);

	for (size_t i = 0; i < join->ended_count && status == 0; i++)
		search->moved[was[join->ended_tasks[i]]] = 1;
	for (size_t i = 0; i < join->after->process_count && status == 0; i++)
		if (layout->exited_group[i] != NO_GROUP)
			search->moved[layout->exited_group[i]] = 1;
	for (size_t i = 0; i < ARRAY_SIZE(scopes) && status == 0; i++) {
		status = find_still_rows(search, scopes[i]);
		for (int id = 0; id < METRIC_STORED && status == 0; id++)
			if (metrics[id].scope == scopes[i])
				find_changed_rows(search, &metrics[id]);
	}
	return status;
}

/* Numbers the groups that moved, in their order. */
static int number_moved(struct compare_layout *moving, const struct search *search,
			uint32_t **ret_group_of)
{
	const struct compare_layout *from = search->layout;

	if (arena_array(&moving->arena, *ret_group_of, from->group_count) < 0 ||
	    arena_array(&moving->arena, moving->numbers, from->group_count) < 0)
		return -ENOMEM;
	for (uint32_t group = 0; group < from->group_count; group++) {
		(*ret_group_of)[group] = NO_GROUP;
		if (!search->moved[group])
			continue;
		moving->first_exited += group < from->first_exited;
		moving->numbers[moving->group_count] = group;
		(*ret_group_of)[group] = (uint32_t)moving->group_count++;
	}
	return 0;
}

int compare_layout_moving(struct compare_layout *moving, const struct compare_layout *from)
{
	CLEANUP(search_clear) struct search search = { .layout = from };
	uint32_t *group_of;

	*moving = (struct compare_layout){ 0 };
	if (find_moved(&search) < 0 || number_moved(moving, &search, &group_of) < 0)
		return -ENOMEM;
	return compare_layout_regroup(moving, from, group_of);
}
