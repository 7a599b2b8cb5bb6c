/* SPDX-License-Identifier: MIT */
#include "analyze/compare/compare_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/compare_layout.h"
#include "analyze/compare/compare_metrics.h"
#include "analyze/compare/compare_rank.h"
#include "analyze/compare/compare_rows.h"
#include "analyze/sheet/sheet_layout.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/dictionary.h"
#include "base/text.h"
#include "metric/fold.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"

/* Sorts rows by their groups; ascending in each. */
static int list_members(struct member_list *list, const uint32_t *group_of, size_t rows,
			size_t groups)
{
	list->first = calloc(groups + 3, sizeof(*list->first));
	list->rows = malloc(rows * sizeof(*list->rows) + 1);
	if (!list->first || !list->rows)
		return -ENOMEM;
	for (size_t row = 0; row < rows; row++)
		list->first[group_of[row] + 2]++;
	for (size_t group = 2; group < groups + 2; group++)
		list->first[group] += list->first[group - 1];
	for (size_t row = 0; row < rows; row++)
		list->rows[list->first[group_of[row] + 1]++] = (uint32_t)row;
	return 0;
}

static int list_run(struct row_maker *maker, size_t run)
{
	const struct compare_run *members = &maker->layout->runs[run];
	struct member_list *lists = &maker->lists[run * SCOPES];

	for (int scope = 0; scope < SCOPES; scope++)
		if (members->rows[scope].group_of &&
		    list_members(&lists[scope], members->rows[scope].group_of,
				 members->rows[scope].count, maker->layout->group_count) < 0)
			return -ENOMEM;
	lists->cpu_counts =
		calloc(dictionary_count(members->snapshot->strings), sizeof(*lists->cpu_counts));
	return lists->cpu_counts ? 0 : -ENOMEM;
}

static int list_runs(struct row_maker *maker)
{
	const struct comparison *comparison = maker->comparison;
	int status = 0;

	maker->lists = calloc(maker->layout->run_count * SCOPES, sizeof(*maker->lists));
	if (!maker->lists)
		return -ENOMEM;
	for (size_t i = 0; i < comparison->groups.count; i++)
		maker->tasks += comparison->groups.data[i].tasks_before +
				comparison->groups.data[i].tasks_after;
	for (size_t run = 0; run < maker->layout->run_count && status == 0; run++)
		status = list_run(maker, run);
	return status;
}

void compare_settings_clear(struct row_maker *maker)
{
	for (size_t i = 0; maker->lists && i < maker->layout->run_count * SCOPES; i++) {
		free(maker->lists[i].first);
		free(maker->lists[i].rows);
		free(maker->lists[i].cpu_counts);
	}
	free(maker->lists);
}

/* There are few lists and many tasks, so each list is parsed once. */
static unsigned cpus_of(struct member_list *list, const struct snapshot *snapshot, uint64_t text)
{
	if (text >= dictionary_count(snapshot->strings))
		return 0;
	if (!list->cpu_counts[text])
		list->cpu_counts[text] = cpulist_count(snapshot_text(snapshot, (uint32_t)text)) + 1;
	return list->cpu_counts[text] - 1;
}

static void fold_cell(struct fold *fold, struct member_list *list, const struct snapshot *snapshot,
		      enum cell_state state, uint64_t value)
{
	const char *text = state == CELL_TEXT || fold->metric->fold == FOLD_CPUSET ?
				   snapshot_text(snapshot, (uint32_t)value) :
				   NULL;

	if (state == CELL_UNLIMITED)
		fold_add_unlimited(fold);
	else if (state == CELL_TEXT)
		fold_add_text(fold, text);
	else if (text)
		fold_add_cpus(fold, text, cpus_of(list, snapshot, value));
	else
		fold_add(fold, value);
}

static void fold_run(struct row_maker *maker, size_t run, size_t group, struct fold *fold)
{
	const struct compare_run *members = &maker->layout->runs[run];
	struct member_list *lists = &maker->lists[run * SCOPES];
	const struct member_list *list = &lists[fold->metric->scope];
	const struct column *column = maker->columns[run];
	uint64_t value = 0;

	for (uint32_t i = list->first[group]; column && i < list->first[group + 1]; i++) {
		enum cell_state state = column_get(column, list->rows[i], &value);

		if (state != CELL_ABSENT)
			fold_cell(fold, lists, members->snapshot, state, value);
	}
}

static void fold_side(struct row_maker *maker, int side, const struct metric *metric, size_t group,
		      struct fold *ret)
{
	fold_init(ret, metric);
	for (size_t run = compare_first(maker->layout, side);
	     run < compare_end(maker->layout, side); run++)
		fold_run(maker, run, group, ret);
	ret->population = maker->work.population[side][metric->scope][group];
	fold_finish(ret);
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

static int setting_value(const struct fold *fold, struct arena *arena, struct compared_value *ret)
{
	struct compared_value value = { .measured = fold->measured,
					.population = fold->population };

	switch (fold->shape) {
	case SHAPE_NUMBER:
		value.shape = VALUE_NUMBER;
		value.is_signed = fold->metric->unit == UNIT_LEVEL;
		value.number = fold->number;
		break;
	case SHAPE_UNLIMITED:
		value.shape = VALUE_UNLIMITED;
		break;
	case SHAPE_LIMITS:
		value.shape = VALUE_TEXT;
		value.number = fold->measured;
		value.text = limits_text(fold, arena);
		break;
	case SHAPE_TEXT:
		value.shape = VALUE_TEXT;
		value.number = fold->mode_count;
		value.text = fold->text;
		break;
	case SHAPE_RANGE:
		value.shape = VALUE_RANGE;
		value.is_signed = true;
		value.min = fold->min;
		value.max = fold->max;
		break;
	case SHAPE_MODE:
		value.shape = VALUE_TEXT;
		value.number = fold->mode_count;
		value.text = mode_text(fold, arena);
		break;
	case SHAPE_CPUS:
		value.shape = VALUE_TEXT;
		value.number = fold->measured;
		value.text = cpus_text(fold, arena);
		break;
	default:
		break;
	}
	if (value.shape == VALUE_TEXT && !value.text)
		return -ENOMEM;
	*ret = value;
	return 0;
}

static enum row_state state_of(const struct row_maker *maker, size_t group,
			       const struct fold *before, const struct fold *after)
{
	const uint8_t *const *has = (const uint8_t *const *)maker->layout->has;

	if (has[0] ? !has[0][group] : before->population == 0)
		return after->measured ? ROW_NEW : ROW_ABSENT;
	if (has[1] ? !has[1][group] : after->population == 0)
		return before->measured ? ROW_GONE : ROW_ABSENT;
	if (!before->measured || !after->measured)
		return ROW_ABSENT;
	return fold_equals(before, after) ? ROW_SAME : ROW_CHANGED;
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

static const char *reason_of(const struct row_maker *maker, const struct metric *metric,
			     bool after_is_known)
{
	return maker->sheet ?
		       sheet_layout_reason(maker->sheet, metric, !after_is_known, maker->source) :
		       compare_layout_reason(maker->layout, metric, after_is_known);
}

static int add_row(struct row_maker *maker, struct comparison_row *row, const struct fold *before,
		   const struct fold *after)
{
	const struct compared_group *group = &maker->comparison->groups.data[row->group];

	if (row->state == ROW_CHANGED)
		row->score = rank_setting(row->metric, (group->tasks_before + group->tasks_after) /
							       maker->tasks);
	if (!row_keeper_wants(maker->keeper, row))
		return 0;
	if (setting_value(before, &maker->comparison->arena, &row->before) < 0 ||
	    setting_value(after, &maker->comparison->arena, &row->after) < 0)
		return -ENOMEM;
	subtract(row);
	if (row->state == ROW_ABSENT)
		row->reason = reason_of(maker, row->metric, after->measured > 0);
	return row_keeper_add(maker->keeper, row);
}

/* In a group that only one side has, only a limit is worth a row. */
static bool is_quiet(enum row_state state, const struct fold *before, const struct fold *after)
{
	const struct fold *has = before->measured ? before : after;

	switch (state) {
	case ROW_NEW:
	case ROW_GONE:
		return has->shape != SHAPE_NUMBER || has->number == 0;
	case ROW_ABSENT:
		return before->measured == after->measured;
	default:
		return state != ROW_CHANGED;
	}
}

static int make_row(struct row_maker *maker, const struct metric *metric, uint32_t group)
{
	struct comparison_row row = { .section = maker->section, .metric = metric };
	struct fold before, after;

	fold_side(maker, 0, metric, group, &before);
	fold_side(maker, 1, metric, group, &after);
	if (maker->sheet ? !before.measured && !after.measured :
			   !before.population && !after.population)
		return 0;
	row.state = state_of(maker, group, &before, &after);
	if (is_quiet(row.state, &before, &after) &&
	    !row_keeper_takes_unchanged(maker->keeper, maker->section))
		return 0;
	if (row_maker_group(maker, group, &row.group) < 0)
		return -ENOMEM;
	return add_row(maker, &row, &before, &after);
}

int compare_settings_rows(struct row_maker *maker, const struct metric *metric)
{
	const struct compare_layout *layout = maker->layout;
	CLEANUP(free_pointer)
	const struct column **columns = calloc(layout->run_count, sizeof(*columns));
	int status = maker->lists ? 0 : list_runs(maker);

	if (!columns)
		return -ENOMEM;
	for (size_t run = 0; run < layout->run_count; run++)
		columns[run] = compare_column(&layout->runs[run], metric);
	maker->columns = columns;
	for (uint32_t group = 0; group < layout->first_exited && status == 0; group++)
		status = make_row(maker, metric, group);
	return status;
}
