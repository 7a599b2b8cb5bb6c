/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rows/compare_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/rows/compare_metrics.h"
#include "analyze/compare/rows/compare_rows.h"
#include "analyze/group/key_tree.h"

/* Group 0 contains all; line n is group n + 1. */
#define GROUP_OF_LINE(line) ((line) + 1)

struct builder {
	struct compare_tree *tree;
	const struct comparison *from;
	struct key_tree *keys;
	struct compare_layout layout;
	uint32_t *group_of; /* by group of `from`: the innermost group here that contains it */
};

void compare_tree_clear(struct compare_tree *tree)
{
	array_free(&tree->sums.groups);
	array_free(&tree->sums.rows);
	arena_clear(&tree->sums.arena);
	free(tree->rows);
	*tree = (struct compare_tree){ 0 };
}

static void add_members(struct compared_group *to, const struct compared_group *from)
{
	to->tasks_before += from->tasks_before;
	to->tasks_after += from->tasks_after;
	to->born += from->born;
	to->ended += from->ended;
	to->missed += from->missed;
	to->own_tasks += from->own_tasks;
	to->children_ns += from->children_ns;
	for (int side = 0; side < SIDES; side++)
		if (from->age_ns[side] > to->age_ns[side])
			to->age_ns[side] = from->age_ns[side];
}

/* Whether both are threads of one process of the tree: the same lines contain them. */
static bool are_beside(const struct compared_group *a, const struct compared_group *b)
{
	return a->process_end && a->process_end == b->process_end &&
	       a->cgroup_end == b->cgroup_end && memcmp(a->key, b->key, a->process_end) == 0;
}

/* The innermost group of the tree that contains a group; 0: none but the one of all. */
static uint32_t find_group(struct builder *builder, const struct compared_group *group)
{
	struct tree_key key = { group->key, group->cgroup_end, group->process_end };
	uint32_t line = key_tree_find(builder->keys, &key);

	return line == KEY_TREE_NONE ? 0 : GROUP_OF_LINE(line);
}

static int make_groups(struct builder *builder)
{
	struct comparison *sums = &builder->tree->sums;
	const struct comparison *from = builder->from;
	size_t lines = builder->keys->lines.count;

	if (comparison_add_group(sums, "", 0, NULL) < 0 ||
	    arena_array(&builder->layout.arena, builder->layout.parents, lines + 1) < 0 ||
	    arena_array(&builder->layout.arena, builder->group_of, from->laid->group_count) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < lines; i++) {
		const struct tree_line *line = &builder->keys->lines.data[i];
		bool is_top = line->parent == KEY_TREE_NONE;

		builder->layout.parents[GROUP_OF_LINE(i)] =
			is_top ? 0 : GROUP_OF_LINE(line->parent);
		if (comparison_add_group(sums, line->label, strlen(line->label), NULL) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < from->laid->group_count; i++) {
		const struct compared_group *group = &from->groups.data[i];

		builder->group_of[i] = i && are_beside(group - 1, group) ?
					       builder->group_of[i - 1] :
					       find_group(builder, group);
		add_members(&sums->groups.data[builder->group_of[i]], group);
	}
	for (size_t i = sums->groups.count; i-- > 1;)
		add_members(&sums->groups.data[builder->layout.parents[i]], &sums->groups.data[i]);
	return 0;
}

static int build(struct builder *builder)
{
	struct comparison *sums = &builder->tree->sums;

	sums->mode = builder->from->mode;
	sums->elapsed_ns = builder->from->elapsed_ns;
	sums->scale = builder->from->scale;
	memcpy(sums->wholes, builder->from->wholes, sizeof(sums->wholes));
	if (make_groups(builder) < 0)
		return -ENOMEM;
	builder->layout.group_count = builder->layout.first_exited = sums->groups.count;
	return compare_layout_regroup(&builder->layout, builder->from->laid, builder->group_of);
}

/* Whether an earlier line asked for the same metric. */
static bool is_made(const struct metric *const *wanted, size_t line)
{
	for (size_t i = 0; i < line; i++)
		if (wanted[i] == wanted[line])
			return true;
	return false;
}

static int make_rows(struct builder *builder, const struct metric *const *wanted,
		     enum compare_section section)
{
	const struct compare_options all = { .unchanged = true };
	struct row_keeper keeper;
	struct row_maker maker = { .scale = builder->from->scale,
				   .keeper = &keeper,
				   .comparison = &builder->tree->sums };
	int status = row_maker_init(&maker, &builder->layout);

	row_keeper_init(&keeper, &builder->tree->sums, &all);
	for (size_t line = 0; line < builder->keys->lines.count && status == 0; line++)
		if (wanted[line] && !is_made(wanted, line))
			status = row_maker_make(&maker, wanted[line], section);
	row_maker_clear(&maker);
	row_keeper_clear(&keeper);
	return status;
}

static int pick_rows(struct compare_tree *tree, size_t lines, const struct metric *const *wanted)
{
	tree->rows = calloc(lines + 1, sizeof(*tree->rows));
	for (size_t i = 0; tree->rows && i < tree->sums.rows.count; i++) {
		const struct comparison_row *row = &tree->sums.rows.data[i];

		if (row->group && wanted[row->group - 1] == row->metric)
			tree->rows[row->group - 1] = row;
	}
	return tree->rows ? 0 : -ENOMEM;
}

int compare_tree_make(struct compare_tree *tree, const struct comparison *comparison,
		      struct key_tree *keys, const struct metric *const *wanted,
		      enum compare_section section)
{
	struct builder builder = { .tree = tree, .from = comparison, .keys = keys };
	int status = build(&builder);

	if (status == 0)
		status = make_rows(&builder, wanted, section);
	arena_clear(&builder.layout.arena);
	return status < 0 ? status : pick_rows(tree, keys->lines.count, wanted);
}
