/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "analyze/compare/rows/compare_tree.h"
#include "analyze/group/key_tree.h"
#include "render/compare/compare_view.h"

#define NO_ROW SIZE_MAX

/* The rows, and the tree that they are put as. */
struct tree_rows {
	const struct comparison *comparison;
	const struct comparison_row *const *rows;
	size_t count;
	struct key_tree keys; /* an item is the number of a group */
	/* By row: the next one of its group; by group: its first and last row. */
	size_t *next, *first, *last;
	uint32_t *line_of; /* by group */
	const struct metric **metrics;
	struct compare_tree sums;
};

static void tree_rows_clear(struct tree_rows *own)
{
	key_tree_clear(&own->keys);
	compare_tree_clear(&own->sums);
	free(own->next);
	free(own->first);
	free(own->last);
	free(own->line_of);
	free(own->metrics);
}

/* Readings of processes and of the capture are not in the tree. */
static bool is_in_tree(const struct tree_rows *own, size_t row)
{
	return own->comparison->groups.data[own->rows[row]->group].process_end > 0;
}

static int make_keys(struct tree_rows *own)
{
	size_t groups = own->comparison->groups.count;
	int status = 0;

	own->next = calloc(own->count + 1, sizeof(*own->next));
	own->first = calloc(groups + 1, sizeof(*own->first));
	own->last = calloc(groups + 1, sizeof(*own->last));
	own->line_of = calloc(groups + 1, sizeof(*own->line_of));
	if (!own->next || !own->first || !own->last || !own->line_of)
		return -ENOMEM;
	for (size_t i = 0; i < groups; i++)
		own->first[i] = NO_ROW;
	for (size_t i = 0; i < own->count && status == 0; i++) {
		uint32_t number = own->rows[i]->group;
		const struct compared_group *group = &own->comparison->groups.data[number];
		struct tree_key key = { group->key, group->cgroup_end, group->process_end };

		own->next[i] = NO_ROW;
		if (!is_in_tree(own, i))
			continue;
		if (own->first[number] == NO_ROW) {
			own->first[number] = i;
			status = key_tree_add(&own->keys, &key, number);
		} else {
			own->next[own->last[number]] = i;
		}
		own->last[number] = i;
	}
	return status < 0 ? status : key_tree_finish(&own->keys);
}

/* An inner line has the metric of the best row in it that can be added up. */
static int choose_metrics(struct tree_rows *own)
{
	const struct tree_line *lines = own->keys.lines.data;

	own->metrics = calloc(own->keys.lines.count + 1, sizeof(*own->metrics));
	if (!own->metrics)
		return -ENOMEM;
	for (uint32_t i = 0; i < own->keys.lines.count; i++)
		if (lines[i].item != KEY_TREE_NONE)
			own->line_of[lines[i].item] = i;
	for (size_t i = 0; i < own->count; i++) {
		const struct comparison_row *row = own->rows[i];
		uint32_t at;

		if (!is_in_tree(own, i) || !compare_is_number(row->metric))
			continue;
		at = lines[own->line_of[row->group]].parent;
		for (; at != KEY_TREE_NONE && !own->metrics[at]; at = lines[at].parent)
			own->metrics[at] = row->metric;
	}
	return 0;
}

/* A line without a sum still says what the lines below it are in. */
static void put_inner(struct compare_table *rows, const struct tree_rows *own, uint32_t line)
{
	const struct tree_line *of = &own->keys.lines.data[line];
	const struct comparison_row *sum = own->sums.rows[line];

	compare_table_put_named(rows, &own->sums.sums, sum, of->label, of->depth);
}

static void put_lines(struct compare_table *rows, const struct tree_rows *own)
{
	for (uint32_t i = 0; i < own->keys.lines.count; i++) {
		const struct tree_line *line = &own->keys.lines.data[i];

		if (line->item == KEY_TREE_NONE)
			put_inner(rows, own, i);
		for (size_t row = line->item == KEY_TREE_NONE ? NO_ROW : own->first[line->item];
		     row != NO_ROW; row = own->next[row])
			compare_table_put_named(rows, own->comparison, own->rows[row], line->label,
						line->depth);
	}
	for (size_t i = 0; i < own->count; i++)
		if (!is_in_tree(own, i))
			compare_table_put(rows, own->rows[i]);
}

int compare_table_put_tree(struct compare_table *rows, const struct comparison_row *const *best,
			   size_t count)
{
	struct tree_rows own = { .comparison = rows->view->comparison,
				 .rows = best,
				 .count = count };
	int status = count ? make_keys(&own) : 0;

	if (status == 0)
		status = choose_metrics(&own);
	if (status == 0)
		status = compare_tree_make(&own.sums, own.comparison, &own.keys, own.metrics,
					   count ? best[0]->section : COMPARE_PRIMARY);
	if (status == 0)
		put_lines(rows, &own);
	tree_rows_clear(&own);
	return status;
}
