/* SPDX-License-Identifier: MIT */
#include "analyze/group/group_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group/group.h"
#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

void group_tree_clear(struct group_tree *tree)
{
	key_tree_clear(&tree->keys);
	free(tree->depths);
	free(tree->labels);
	*tree = (struct group_tree){ 0 };
}

static struct tree_key key_of(const struct group *group)
{
	return (struct tree_key){ group->key, group->cgroup_end, group->process_end };
}

static int make_lines(struct key_tree *keys, const struct grouping *grouping, size_t shown)
{
	int status = 0;

	for (uint32_t i = 0; i < shown && status == 0; i++) {
		struct tree_key key = key_of(&grouping->groups[i]);

		status = key_tree_add(keys, &key, i);
	}
	return status < 0 ? status : key_tree_finish(keys);
}

/* Copies the rows of each group to all lines that contain it, where `lines` begin. */
static void copy_rows(struct key_tree *keys, struct grouping *grouping, struct group *lines,
		      const uint32_t *line_of)
{
	for (size_t i = 0; i < grouping->group_count; i++) {
		const struct group *group = &grouping->groups[i];

		for (uint32_t at = line_of[i]; at != KEY_TREE_NONE;
		     at = keys->lines.data[at].parent) {
			memcpy(&grouping->rows[lines[at].first + lines[at].tasks],
			       &grouping->rows[group->first], group->tasks * sizeof(uint32_t));
			lines[at].tasks += group->tasks;
		}
	}
}

/* Gives the inner lines room for their rows, after those that there are. */
static int add_rows(struct key_tree *keys, struct grouping *grouping, struct group *lines,
		    const uint32_t *line_of)
{
	uint32_t next = (uint32_t)grouping->snapshot->task_count;
	uint32_t *rows;

	for (size_t i = 0; i < grouping->group_count; i++)
		for (uint32_t at = line_of[i]; at != KEY_TREE_NONE;
		     at = keys->lines.data[at].parent)
			lines[at].tasks += grouping->groups[i].tasks;
	for (size_t i = 0; i < keys->lines.count; i++) {
		lines[i].first = next;
		next += lines[i].tasks;
		lines[i].tasks = 0;
	}
	rows = reallocarray(grouping->rows, (size_t)next + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	grouping->rows = rows;
	copy_rows(keys, grouping, lines, line_of);
	return 0;
}

/* Counts the processes of the inner lines; `seen` is, by process, the last line that had it. */
static void count_processes(const struct grouping *grouping, struct group *lines, size_t count,
			    uint32_t *seen)
{
	for (uint32_t line = 0; line < count; line++)
		for (uint32_t i = 0; i < lines[line].tasks; i++) {
			uint32_t row = grouping->rows[lines[line].first + i];
			uint32_t *process = &seen[grouping->snapshot->tasks[row].process];

			lines[line].processes += *process != line + 1;
			*process = line + 1;
		}
}

static int make_inner(struct key_tree *keys, struct grouping *grouping, struct group *lines)
{
	CLEANUP(free_pointer)
	uint32_t *line_of = calloc(grouping->group_count + 1, sizeof(*line_of));
	CLEANUP(free_pointer)
	uint32_t *seen = calloc(grouping->snapshot->process_count + 1, sizeof(*seen));

	if (!line_of || !seen)
		return -ENOMEM;
	for (size_t i = 0; i < grouping->group_count; i++) {
		struct tree_key key = key_of(&grouping->groups[i]);

		line_of[i] = key_tree_find(keys, &key);
	}
	if (add_rows(keys, grouping, lines, line_of) < 0)
		return -ENOMEM;
	count_processes(grouping, lines, keys->lines.count, seen);
	return 0;
}

int group_tree_make(struct group_tree *tree, struct grouping *grouping, size_t shown)
{
	CLEANUP(free_pointer) struct group *groups = NULL;
	struct key_tree *keys = &tree->keys;
	size_t lines, hidden = grouping->group_count - shown;

	if (make_lines(keys, grouping, shown) < 0)
		return -ENOMEM;
	lines = keys->lines.count;
	groups = calloc(lines + hidden + 1, sizeof(*groups));
	tree->depths = calloc(lines + hidden + 1, sizeof(*tree->depths));
	tree->labels = calloc(lines + hidden + 1, sizeof(*tree->labels));
	if (!groups || !tree->depths || !tree->labels || make_inner(keys, grouping, groups) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < lines; i++) {
		const struct tree_line *line = &keys->lines.data[i];

		tree->depths[i] = line->depth;
		tree->labels[i] = line->label;
		if (line->item != KEY_TREE_NONE)
			groups[i] = grouping->groups[line->item];
		else
			groups[i].key = line->label;
	}
	memcpy(&groups[lines], &grouping->groups[shown], hidden * sizeof(*groups));
	free(grouping->groups);
	grouping->groups = TAKE_PTR(groups);
	grouping->group_count = lines + hidden;
	tree->count = lines;
	return 0;
}
