/* SPDX-License-Identifier: MIT */
/* The rows of a layout in other groups. */
#include <errno.h>

#include "analyze/compare/layout/compare_layout.h"
#include "model/snapshot/snapshot.h"

int member_rows_list(struct member_rows *rows, struct arena *arena)
{
	rows->member_count = 0;
	if (arena_array(arena, rows->members, rows->count) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < rows->count; row++)
		if (rows->group_of[row] != NO_GROUP)
			rows->members[rows->member_count++] =
				(struct member){ row, rows->group_of[row] };
	return 0;
}

/* An array by group of the one layout, as an array by group of the other. */
#define TAKE_MEMBERS(layout, from, group_of, to, values)                                           \
	({                                                                                         \
		int taken_ = arena_array(&(layout)->arena, to, (layout)->group_count);             \
		for (size_t i_ = 0; taken_ == 0 && i_ < (from)->group_count; i_++)                 \
			if ((group_of)[i_] != NO_GROUP)                                            \
				(to)[(group_of)[i_]] += (values)[i_];                              \
		for (size_t i_ = (layout)->group_count;                                            \
		     taken_ == 0 && (layout)->parents && i_-- > 1;)                                \
			(to)[(layout)->parents[i_]] += (to)[i_];                                   \
		taken_;                                                                            \
	})

static int take_rows(struct compare_layout *layout, const struct compare_layout *from,
		     const uint32_t *group_of, struct member_rows *rows)
{
	struct member_rows old = *rows;

	if (!old.group_of)
		return 0;
	if (arena_array(&layout->arena, rows->group_of, rows->count) < 0)
		return -ENOMEM;
	for (size_t row = 0; row < rows->count; row++)
		rows->group_of[row] = group_of[old.group_of[row]];
	if (old.lives && TAKE_MEMBERS(layout, from, group_of, rows->lives, old.lives) < 0)
		return -ENOMEM;
	return member_rows_list(rows, &layout->arena);
}

static int take_runs(struct compare_layout *layout, const struct compare_layout *from,
		     const uint32_t *group_of)
{
	if (arena_array(&layout->arena, layout->runs, from->run_count) < 0)
		return -ENOMEM;
	for (size_t run = 0; run < from->run_count; run++) {
		layout->runs[run] = from->runs[run];
		for (int scope = 0; scope < SCOPES; scope++)
			if (take_rows(layout, from, group_of, &layout->runs[run].rows[scope]) < 0)
				return -ENOMEM;
	}
	return 0;
}

static int take_population(struct compare_layout *layout, const struct compare_layout *from,
			   const uint32_t *group_of, int scope)
{
	const uint32_t *before = from->population[0][scope], *after = from->population[1][scope];

	if (!before)
		return 0;
	for (size_t group = 0; group < from->group_count; group++)
		layout->left_out[scope] +=
			group_of[group] == NO_GROUP && (before[group] || after[group]);
	if (TAKE_MEMBERS(layout, from, group_of, layout->population[0][scope], before) < 0)
		return -ENOMEM;
	return TAKE_MEMBERS(layout, from, group_of, layout->population[1][scope], after);
}

static int take_exited(struct compare_layout *layout, const struct compare_layout *from,
		       const uint32_t *group_of)
{
	size_t processes = from->join.after->process_count;

	if (arena_array(&layout->arena, layout->exited_group, processes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < processes; i++)
		layout->exited_group[i] = from->exited_group[i] == NO_GROUP ?
						  NO_GROUP :
						  group_of[from->exited_group[i]];
	return 0;
}

int compare_layout_regroup(struct compare_layout *layout, const struct compare_layout *from,
			   const uint32_t *group_of)
{
	struct compare_layout made = *from;
	int status;

	made.arena = layout->arena;
	made.group_count = layout->group_count;
	made.first_exited = layout->first_exited;
	made.numbers = layout->numbers;
	made.parents = layout->parents;
	*layout = made;
	status = take_runs(layout, from, group_of);
	for (int scope = 0; scope < SCOPES && status == 0; scope++)
		status = take_population(layout, from, group_of, scope);
	return status < 0 || !from->is_interval ? status : take_exited(layout, from, group_of);
}
