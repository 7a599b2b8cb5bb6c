#include "analyze/compare_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare_layout.h"
#include "base/cpulist.h"
#include "base/dictionary.h"
#include "model/snapshot.h"

#define SCOPES 2

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

int compare_settings_init(struct compare_settings *settings, const struct compare_layout *layout)
{
	settings->layout = layout;
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

void compare_settings_fold(struct compare_settings *settings, int side, enum metric_id id,
			   size_t group, struct setting *ret)
{
	const struct compare_layout *layout = settings->layout;
	size_t first = side ? layout->before_count : 0;
	size_t end = side ? layout->run_count : layout->before_count;

	fold_init(&ret->fold, &metrics[id]);
	ret->list = NULL;
	for (size_t run = first; run < end; run++)
		fold_run(settings, run, group, ret);
	fold_finish(&ret->fold);
}

bool setting_equals(const struct setting *a, const struct setting *b)
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

int setting_value(const struct setting *setting, struct arena *arena, struct compared_value *ret)
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
