/* SPDX-License-Identifier: MIT */
#include "analyze/compare/rows/compare_metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/rank/compare_rank.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"

/* Sorts rows by their groups; ascending in each. */
static int list_members(struct arena *arena, struct member_list *list, const struct member_rows *of,
			size_t groups)
{
	if (arena_array(arena, list->first, groups + 2) < 0 ||
	    arena_array(arena, list->rows, of->member_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < of->member_count; i++)
		list->first[of->members[i].group + 2]++;
	for (size_t group = 2; group < groups + 2; group++)
		list->first[group] += list->first[group - 1];
	for (size_t i = 0; i < of->member_count; i++)
		list->rows[list->first[of->members[i].group + 1]++] = of->members[i].row;
	return 0;
}

static int list_run(struct row_maker *maker, size_t run)
{
	const struct member_rows *rows = maker->layout->runs[run].rows;
	struct member_list *lists = &maker->lists[run * SCOPES];
	int status = 0;

	lists->cpu_counts.arena = &maker->work.arena;
	for (int scope = 0; scope < SCOPES && status == 0; scope++)
		if (rows[scope].group_of)
			status = list_members(&maker->work.arena, &lists[scope], &rows[scope],
					      maker->layout->group_count);
	return status;
}

static int list_runs(struct row_maker *maker)
{
	const struct comparison *comparison = maker->comparison;
	size_t runs = maker->layout->run_count;
	int status = 0;

	if (arena_array(&maker->work.arena, maker->lists, runs * SCOPES) < 0 ||
	    arena_array(&maker->work.arena, maker->columns, runs) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->groups.count; i++)
		maker->tasks += comparison->groups.data[i].tasks_before +
				comparison->groups.data[i].tasks_after;
	for (size_t run = 0; run < runs && status == 0; run++)
		status = list_run(maker, run);
	return status;
}

int compare_settings_begin(struct row_maker *maker, const struct metric *metric)
{
	struct compare_work *work = &maker->work;

	if (!maker->lists && list_runs(maker) < 0)
		return -ENOMEM;
	compare_work_begin(work, metric);
	for (int side = 0; side < SIDES; side++)
		work->sides[side] = work->runs[side];
	for (size_t run = 0; run < maker->layout->run_count; run++)
		maker->columns[run] = compare_column(&maker->layout->runs[run], metric);
	return 0;
}

static void fold_run(struct row_maker *maker, size_t run, size_t group, struct fold *fold)
{
	struct member_list *lists = &maker->lists[run * SCOPES];
	const struct member_list *list = &lists[fold->metric->scope];

	for (uint32_t i = list->first[group]; maker->columns[run] && i < list->first[group + 1];
	     i++)
		fold_add_cell(fold, maker->layout->runs[run].snapshot, maker->columns[run],
			      list->rows[i], &lists->cpu_counts);
}

/* The only number of a group on one side; false when it has several rows, or something else. */
static bool only_number(const struct row_maker *maker, int side, size_t group, uint64_t *ret)
{
	const struct metric *metric = maker->work.metric;
	const struct member_list *list = &maker->lists[side * SCOPES + (int)metric->scope];
	const struct column *column = maker->columns[side];

	return column && list->first[group] + 1 == list->first[group + 1] &&
	       column_get(column, list->rows[list->first[group]], ret) == CELL_NUMBER;
}

bool compare_settings_are_same(const struct row_maker *maker, size_t group)
{
	uint64_t before, after;

	return maker->layout->run_count == SIDES && maker->work.metric->fold != FOLD_CPUSET &&
	       only_number(maker, 0, group, &before) && only_number(maker, 1, group, &after) &&
	       before == after;
}

void compare_settings_fold(struct row_maker *maker, size_t group)
{
	const struct compare_layout *layout = maker->layout;
	struct compare_work *work = &maker->work;

	for (int side = 0; side < SIDES; side++) {
		struct fold *fold = &maker->folds[side];

		fold_init(fold, work->metric);
		for (size_t run = compare_first(layout, side); run < compare_end(layout, side);
		     run++)
			fold_run(maker, run, group, fold);
		fold->population = compare_work_population(work, side, group);
		fold_finish(fold);
		work->runs[side][group] = (struct cell){
			.number = fold->shape == SHAPE_NUMBER ? fold->number : 0,
			.measured = fold->measured,
			.known = fold->measured > 0,
		};
	}
	work->changes[group] = fold_equals(&maker->folds[0], &maker->folds[1]) ? 0 : 1;
}

double compare_settings_score(const struct row_maker *maker, const struct comparison_row *row)
{
	const struct compared_group *group = &maker->comparison->groups.data[row->group];

	if (row->state != ROW_CHANGED)
		return 0;
	return rank_setting(row->metric, (group->tasks_before + group->tasks_after) / maker->tasks);
}

static const char *cpus_text(const struct fold *fold, struct arena *arena)
{
	char buffer[80];
	int length;

	if (fold->text)
		return fold->text;
	if (fold->min == fold->max)
		length = snprintf(buffer, sizeof(buffer), "%" PRId64 " cpus (mixed)", fold->min);
	else
		length = snprintf(buffer, sizeof(buffer), "%" PRId64 "-%" PRId64 " cpus (mixed)",
				  fold->min, fold->max);
	return arena_copy(arena, buffer, (size_t)length);
}

static const char *mode_text(const struct fold *fold, struct arena *arena)
{
	char buffer[32];
	const char *text = metric_category_text(fold->metric->unit, fold->mode, buffer);

	return arena_copy(arena, text, strlen(text));
}

/* Some members have a limit and others have none: "1.00 GiB..max". */
static const char *limits_text(const struct fold *fold, struct arena *arena)
{
	CLEANUP(text_free) struct text text = { 0 };

	unit_format(&text, fold->metric->unit, (uint64_t)fold->min);
	text_append_string(&text, "..max");
	return text.failed ? NULL : arena_copy(arena, text.data, text.length);
}

/* The value in words, and how many have it; NULL for a number, or without memory. */
static const char *setting_text(const struct fold *fold, struct arena *arena, uint64_t *ret_count)
{
	*ret_count = fold->measured;
	switch (fold->shape) {
	case SHAPE_LIMITS:
		return limits_text(fold, arena);
	case SHAPE_CPUS:
		return cpus_text(fold, arena);
	case SHAPE_TEXT:
		*ret_count = fold->mode_count;
		return fold->text;
	case SHAPE_MODE:
		*ret_count = fold->mode_count;
		return mode_text(fold, arena);
	default:
		return NULL;
	}
}

static int setting_value(const struct fold *fold, struct arena *arena, struct compared_value *ret)
{
	*ret = (struct compared_value){ .measured = fold->measured,
					.population = fold->population };
	switch (fold->shape) {
	case SHAPE_ABSENT:
		break;
	case SHAPE_NUMBER:
		ret->shape = VALUE_NUMBER;
		ret->is_signed = fold->metric->unit == UNIT_LEVEL;
		ret->number = fold->number;
		break;
	case SHAPE_UNLIMITED:
		ret->shape = VALUE_UNLIMITED;
		break;
	case SHAPE_RANGE:
		ret->shape = VALUE_RANGE;
		ret->is_signed = true;
		ret->min = fold->min;
		ret->max = fold->max;
		break;
	default:
		ret->shape = VALUE_TEXT;
		ret->text = setting_text(fold, arena, &ret->number);
		return ret->text ? 0 : -ENOMEM;
	}
	return 0;
}

/* A difference exists only when each side is a single number that does not name something. */
static void subtract(struct comparison_row *row)
{
	const struct compared_value *before = &row->before, *after = &row->after;

	if (row->metric->unit == UNIT_ID || before->shape != after->shape)
		return;
	if (before->shape == VALUE_RANGE && before->min == before->max && after->min == after->max)
		row->delta = difference_of_whole((uint64_t)before->min, (uint64_t)after->min, true);
	else if (before->shape == VALUE_NUMBER)
		row->delta = difference_of_whole(before->number, after->number, after->is_signed);
}

int compare_settings_fill(const struct row_maker *maker, struct comparison_row *row)
{
	struct arena *arena = &maker->comparison->arena;

	if (setting_value(&maker->folds[0], arena, &row->before) < 0 ||
	    setting_value(&maker->folds[1], arena, &row->after) < 0)
		return -ENOMEM;
	subtract(row);
	return 0;
}
