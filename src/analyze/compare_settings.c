/* SPDX-License-Identifier: MIT */
#include "analyze/compare_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare_layout.h"
#include "analyze/compare_rank.h"
#include "analyze/compare_rows.h"
#include "analyze/compare_work.h"
#include "base/cpulist.h"
#include "base/dictionary.h"
#include "metric/fold.h"
#include "model/snapshot.h"

/* One side of a group. */
struct setting {
	struct fold fold;
	const char *list; /* of a cpu set that all share */
};

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

static int list_run(struct compare_settings *settings, size_t run)
{
	const struct compare_run *members = &settings->layout->runs[run];
	const struct snapshot *snapshot = members->snapshot;
	size_t groups = settings->layout->group_count;
	struct member_list *lists = &settings->lists[run * SCOPES];

	if (list_members(&lists[SCOPE_THREAD], members->group_of_task, snapshot->task_count,
			 groups) < 0 ||
	    list_members(&lists[SCOPE_PROCESS], members->group_of_process, snapshot->process_count,
			 groups) < 0)
		return -ENOMEM;
	lists->cpu_counts = calloc(dictionary_count(snapshot->strings), sizeof(*lists->cpu_counts));
	return lists->cpu_counts ? 0 : -ENOMEM;
}

int compare_settings_init(struct compare_settings *settings, const struct compare_layout *layout,
			  struct comparison *comparison)
{
	settings->layout = layout;
	settings->comparison = comparison;
	settings->tasks = 0;
	for (size_t i = 0; i < comparison->groups.count; i++)
		settings->tasks += comparison->groups.data[i].tasks_before +
				   comparison->groups.data[i].tasks_after;
	settings->lists = calloc(layout->run_count * SCOPES, sizeof(*settings->lists));
	if (!settings->lists)
		return -ENOMEM;
	for (size_t run = 0; run < layout->run_count; run++)
		if (list_run(settings, run) < 0) {
			compare_settings_clear(settings);
			return -ENOMEM;
		}
	return 0;
}

void compare_settings_clear(struct compare_settings *settings)
{
	for (size_t i = 0; settings->lists && i < settings->layout->run_count * SCOPES; i++) {
		free(settings->lists[i].first);
		free(settings->lists[i].rows);
		free(settings->lists[i].cpu_counts);
	}
	free(settings->lists);
	settings->lists = NULL;
}

/* Lists are few and tasks many, so each is read once. */
static unsigned cpus_of(struct member_list *list, const struct snapshot *snapshot, uint64_t text)
{
	if (text >= dictionary_count(snapshot->strings))
		return 0;
	if (!list->cpu_counts[text])
		list->cpu_counts[text] = cpulist_count(snapshot_text(snapshot, (uint32_t)text)) + 1;
	return list->cpu_counts[text] - 1;
}

/* Numbers of texts are each snapshot's own: one list for all is told by its text. */
static void add_cpus(struct setting *setting, const char *text, unsigned cpus)
{
	bool same = setting->list && strcmp(setting->list, text) == 0;
	bool is_first = setting->fold.measured == 0;

	if (is_first)
		setting->list = text;
	else if (!same)
		setting->list = NULL;
	fold_add_cpus(&setting->fold, 0, cpus);
}

static void fold_run(struct compare_settings *settings, size_t run, size_t group,
		     struct setting *setting)
{
	enum metric_id id = (enum metric_id)(setting->fold.metric - metrics);
	const struct snapshot *snapshot = settings->layout->runs[run].snapshot;
	struct member_list *lists = &settings->lists[run * SCOPES];
	const struct member_list *list = &lists[metrics[id].scope];

	for (uint32_t i = list->first[group]; i < list->first[group + 1]; i++) {
		uint64_t value;

		if (!snapshot_get(snapshot, id, list->rows[i], &value))
			fold_skip(&setting->fold);
		else if (metrics[id].fold != FOLD_CPUSET)
			fold_add(&setting->fold, value);
		else
			add_cpus(setting, snapshot_text(snapshot, (uint32_t)value),
				 cpus_of(lists, snapshot, value));
	}
}

static void fold_side(struct compare_settings *settings, int side, enum metric_id id, size_t group,
		      struct setting *ret)
{
	const struct compare_layout *layout = settings->layout;
	size_t first = side ? layout->before_count : 0;
	size_t end = side ? layout->run_count : layout->before_count;

	fold_init(&ret->fold, &metrics[id]);
	ret->list = NULL;
	for (size_t run = first; run < end; run++)
		fold_run(settings, run, group, ret);
	/* Those that A should have had. */
	if (side == 0 && layout->is_interval)
		ret->fold.population += metrics[id].scope == SCOPE_THREAD ?
						layout->missed_tasks[group] :
						layout->missed_processes[group];
	fold_finish(&ret->fold);
}

static bool setting_equals(const struct setting *a, const struct setting *b)
{
	if (a->fold.shape != b->fold.shape)
		return false;
	switch (a->fold.shape) {
	case SHAPE_MODE:
		return a->fold.mode == b->fold.mode;
	case SHAPE_CPUS:
		if (a->list && b->list)
			return strcmp(a->list, b->list) == 0;
		return a->list == b->list && a->fold.min == b->fold.min &&
		       a->fold.max == b->fold.max;
	case SHAPE_RANGE:
		return a->fold.min == b->fold.min && a->fold.max == b->fold.max;
	default:
		return true;
	}
}

static const char *cpus_text(const struct setting *setting, struct arena *arena)
{
	char buffer[80];
	int length;

	if (setting->list)
		return setting->list;
	if (setting->fold.min == setting->fold.max)
		length = snprintf(buffer, sizeof(buffer), "%" PRId64 " cpus (mixed)",
				  setting->fold.min);
	else
		length = snprintf(buffer, sizeof(buffer), "%" PRId64 "-%" PRId64 " cpus (mixed)",
				  setting->fold.min, setting->fold.max);
	return arena_copy(arena, buffer, (size_t)length);
}

static const char *mode_text(const struct fold *fold, struct arena *arena)
{
	char buffer[32];
	const char *text = metric_category_text(fold->metric->unit, fold->mode, buffer);

	return arena_copy(arena, text, strlen(text));
}

static int setting_value(const struct setting *setting, struct arena *arena,
			 struct compared_value *ret)
{
	const struct fold *fold = &setting->fold;
	struct compared_value value = { .measured = fold->measured,
					.population = fold->population };

	switch (fold->shape) {
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
		value.text = cpus_text(setting, arena);
		break;
	default:
		break;
	}
	if (value.shape == VALUE_TEXT && !value.text)
		return -ENOMEM;
	*ret = value;
	return 0;
}

static enum row_state state_of(const struct setting *before, const struct setting *after)
{
	if (before->fold.population == 0)
		return after->fold.measured ? ROW_NEW : ROW_ABSENT;
	if (after->fold.population == 0)
		return before->fold.measured ? ROW_GONE : ROW_ABSENT;
	if (!before->fold.measured || !after->fold.measured)
		return ROW_ABSENT;
	return setting_equals(before, after) ? ROW_SAME : ROW_CHANGED;
}

/* There is a difference when each side is a single number that names nothing. */
static void subtract_ranges(struct comparison_row *row)
{
	const struct compared_value *before = &row->before, *after = &row->after;

	if (metrics[row->metric].unit != UNIT_ID && before->shape == VALUE_RANGE &&
	    after->shape == VALUE_RANGE && before->min == before->max && after->min == after->max)
		row->delta = difference_of_whole((uint64_t)before->min, (uint64_t)after->min, true);
}

static int add_row(struct compare_settings *settings, struct row_keeper *keeper,
		   struct comparison_row *row, const struct setting *before,
		   const struct setting *after)
{
	const struct compared_group *group = &settings->comparison->groups.data[row->group];
	enum metric_id id = (enum metric_id)row->metric;

	if (row->state == ROW_CHANGED)
		row->score = rank_setting(id, (group->tasks_before + group->tasks_after) /
						      settings->tasks);
	if (!row_keeper_wants(keeper, row))
		return 0;
	if (setting_value(before, &settings->comparison->arena, &row->before) < 0 ||
	    setting_value(after, &settings->comparison->arena, &row->after) < 0)
		return -ENOMEM;
	row->name = metrics[id].name;
	subtract_ranges(row);
	if (row->state == ROW_ABSENT)
		row->reason = compare_layout_reason(settings->layout, id, after->fold.measured > 0);
	return row_keeper_add(keeper, row);
}

static int make_row(struct compare_settings *settings, struct row_keeper *keeper, enum metric_id id,
		    enum compare_section section, uint32_t group)
{
	struct setting before, after;
	struct comparison_row row;
	enum row_state state;
	bool quiet;

	fold_side(settings, 0, id, group, &before);
	fold_side(settings, 1, id, group, &after);
	if (!before.fold.population && !after.fold.population)
		return 0;
	state = state_of(&before, &after);
	quiet = state != ROW_CHANGED &&
		(state != ROW_ABSENT || before.fold.measured == after.fold.measured);
	if (quiet && !row_keeper_takes_unchanged(keeper, section))
		return 0;
	row = (struct comparison_row){
		.section = section, .group = group, .metric = (int)id, .state = state
	};
	return add_row(settings, keeper, &row, &before, &after);
}

int compare_settings_rows(struct compare_settings *settings, enum metric_id id,
			  enum compare_section section, struct row_keeper *keeper)
{
	int status = 0;

	for (uint32_t group = 0; group < settings->layout->first_exited && status == 0; group++)
		status = make_row(settings, keeper, id, section, group);
	return status;
}
