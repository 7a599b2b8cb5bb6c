/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cgroup/cgroup_unmatched.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "render/compare/compare_value.h"
#include "render/compare/compare_view.h"
#include "render/table/table.h"

/* A group that only one side has, and what is known of it. */
struct lone_group {
	const struct compared_group *group;
	const struct comparison_row *row; /* its most important one, NULL when none is kept */
	size_t rank;			  /* place of that row: the order of the list */
};

struct lone_groups {
	ARRAY_OF(struct lone_group) items;
};

static void lone_groups_free(struct lone_groups *groups)
{
	array_free(&groups->items);
}

/* By group: its first row; NULL for a group without rows. */
static const struct comparison_row **first_rows(const struct comparison *comparison)
{
	const struct comparison_row **rows = calloc(comparison->groups.count + 1, sizeof(*rows));

	for (size_t i = 0; rows && i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (!rows[row->group])
			rows[row->group] = row;
	}
	return rows;
}

/* Cgroups of readings have no tasks of their own: their rows say which side they are on. */
static enum row_state side_of(const struct compared_group *group, const struct comparison_row *row)
{
	/* A group that a filter kept out of the first snapshot is not new. */
	if ((group->tasks_before || group->missed) && group->tasks_after)
		return ROW_SAME;
	if (group->tasks_after)
		return ROW_NEW;
	if (group->tasks_before)
		return ROW_GONE;
	return row ? row->state : ROW_SAME;
}

static int compare_lone(const void *a, const void *b)
{
	const struct lone_group *left = a, *right = b;

	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	if (left->group->run_time_ns != right->group->run_time_ns)
		return left->group->run_time_ns > right->group->run_time_ns ? -1 : 1;
	return strcmp(left->group->key, right->group->key);
}

/* Whether the group is a cgroup that is listed as unmatched, or lies in one. */
static bool is_listed(const struct compare_view *view, const struct compared_group *group)
{
	size_t length = group->cgroup_end ? group->cgroup_end : strlen(group->key);

	for (size_t i = 0; view->unmatched && i < view->unmatched->items.count; i++) {
		const char *key = view->unmatched->items.data[i].key;

		if (strncmp(group->key, key, length) == 0 && !key[length])
			return true;
	}
	return false;
}

static int gather(const struct compare_view *view, enum row_state side, struct lone_groups *ret)
{
	const struct comparison *comparison = view->comparison;
	CLEANUP(free_pointer) const struct comparison_row **rows = first_rows(comparison);

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->groups.count; i++) {
		const struct compared_group *group = &comparison->groups.data[i];
		struct lone_group item = { group, rows[i], SIZE_MAX };

		if (side_of(group, rows[i]) != side || is_listed(view, group))
			continue;
		if (rows[i])
			item.rank = (size_t)(rows[i] - comparison->rows.data);
		if (array_append(&ret->items, item) < 0)
			return -ENOMEM;
	}
	array_sort(&ret->items, compare_lone);
	return 0;
}

/*
 * Puts the most important row, which says what the group is about where time
 * and memory do not.
 */
static void put_most(struct table *table, const struct comparison_row *row)
{
	if (!row) {
		put_empty(table);
		return;
	}
	text_format(put_begin(table), "%s ", row->metric->name);
	put_compared(table, row, row->state == ROW_GONE ? &row->before : &row->after);
}

static void put_group(struct table *table, const struct lone_group *item)
{
	const struct compared_group *group = item->group;
	uint32_t tasks = group->tasks_before + group->tasks_after;

	put_text(table, group->key[0] ? group->key : "(none)");
	put_known(table, tasks, tasks);
	put_known(table, group->has_run_time, group->run_time_ns);
	put_known(table, group->has_rss, group->rss_bytes);
	put_most(table, item->row);
}

static const struct table_column columns[] = {
	{ .title = "group", .alignment = TABLE_NAME },
	{ "tasks", TABLE_RIGHT, .unit = UNIT_LEVEL },
	{ "run_time_ns", TABLE_RIGHT, .unit = UNIT_NS },
	{ "rss_bytes", TABLE_RIGHT, .unit = UNIT_BYTES },
	{ .title = "most", .alignment = TABLE_NAME },
};

static int print_side(const struct compare_view *view, enum row_state side, const char *name,
		      const struct terminal *terminal, FILE *out)
{
	CLEANUP(lone_groups_free) struct lone_groups groups = { 0 };
	CLEANUP(table_clear) struct table table = { 0 };
	int status = gather(view, side, &groups);
	size_t shown = groups.items.count;

	if (status < 0 || shown == 0)
		return status;
	if (view->limit && view->limit < shown)
		shown = view->limit;
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < shown; i++)
		put_group(&table, &groups.items.data[i]);
	fputc('\n', out);
	style_line(out, terminal->colour, STYLE_HEADING, "## groups only %s: %zu", name,
		   groups.items.count);
	status = table_print(&table, terminal, out);
	if (status == 0 && shown < groups.items.count)
		fprintf(out, "… %zu more group%s (-n 0 shows all)\n", groups.items.count - shown,
			groups.items.count - shown == 1 ? "" : "s");
	return status;
}

static const struct table_column cgroup_columns[] = {
	{ .title = "cgroup", .alignment = TABLE_NAME },
	{ "tasks", TABLE_RIGHT, .unit = UNIT_LEVEL },
	{ "run_time_ns", TABLE_RIGHT, .unit = UNIT_NS },
	{ "rss_bytes", TABLE_RIGHT, .unit = UNIT_BYTES },
};

static int print_cgroups(const struct compare_view *view, bool is_after,
			 const struct terminal *terminal, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	size_t count = 0, shown = 0;
	int status = 0;

	table_add_columns(&table, cgroup_columns, ARRAY_SIZE(cgroup_columns));
	for (size_t i = 0; i < view->unmatched->items.count; i++) {
		const struct unmatched_cgroup *cgroup = &view->unmatched->items.data[i];

		if (cgroup->is_after != is_after || (count++ >= view->limit && view->limit))
			continue;
		shown++;
		put_text(&table, cgroup->key);
		put_number(&table, cgroup->tasks);
		put_known(&table, cgroup->has_run_time, cgroup->run_time_ns);
		put_known(&table, cgroup->has_rss, cgroup->rss_bytes);
	}
	if (count == 0)
		return 0;
	fputc('\n', out);
	style_line(out, terminal->colour, STYLE_HEADING, "## cgroups only %s: %zu",
		   is_after ? "after" : "before", count);
	status = table_print(&table, terminal, out);
	if (status == 0 && shown < count)
		fprintf(out, "… %zu more cgroup%s (-n 0 shows all)\n", count - shown,
			count - shown == 1 ? "" : "s");
	return status;
}

int compare_sides_print(const struct compare_view *view, const struct terminal *terminal, FILE *out)
{
	int status = 0;

	for (int after = 1; after >= 0 && view->unmatched && status == 0; after--)
		status = print_cgroups(view, after, terminal, out);
	if (status == 0)
		status = print_side(view, ROW_NEW, "after", terminal, out);
	return status < 0 ? status : print_side(view, ROW_GONE, "before", terminal, out);
}
