/* SPDX-License-Identifier: MIT */
#include "analyze/compare/layout/compare_layout.h"

#include <errno.h>
#include <string.h>

#include "analyze/cgroup/cgroup_match.h"
#include "analyze/compare/comparison.h"
#include "analyze/group/group.h"
#include "analyze/match/census.h"
#include "analyze/match/exited.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

#define EXITED_SUFFIX " (exited threads)"
#define OWN_NAME "taskscope"

/* Needed only while a layout is made. */
struct builder {
	struct compare_layout *layout;
	const struct compare_options *options;
	const struct compare_side *sides;
	struct comparison *comparison;
	struct census *census;
	struct census *processes; /* names of processes, for exited threads; NULL when not needed */
	struct cgroup_types renamed; /* empty on axes without cgroups */
	struct dictionary *keys;
	ARRAY_OF(uint32_t) group_of_key; /* by the key's number */
	struct text key;
};

static void builder_clear(struct builder *builder)
{
	census_free(builder->census);
	census_free(builder->processes);
	arena_clear(&builder->renamed.arena);
	dictionary_free(builder->keys);
	array_free(&builder->group_of_key);
	text_free(&builder->key);
}

void compare_layout_clear(struct compare_layout *layout)
{
	arena_clear(&layout->arena);
	memset(layout, 0, sizeof(*layout));
}

/* The place of a key's group; it holds NO_GROUP when the key is new.  NULL without memory. */
static uint32_t *place_of_number(struct builder *builder, uint32_t key)
{
	if (array_extend(&builder->group_of_key, key + 1, NO_GROUP) < 0)
		return NULL;
	return &builder->group_of_key.data[key];
}

static uint32_t *place_of(struct builder *builder, const char *key, size_t length)
{
	uint32_t number;

	return dictionary_add(builder->keys, key, length, &number) < 0 ?
		       NULL :
		       place_of_number(builder, number);
}

static int add_group(struct builder *builder, const char *key, size_t length, uint32_t *ret)
{
	*ret = (uint32_t)builder->comparison->groups.count;
	return comparison_add_group(builder->comparison, key, length, NULL);
}

/* Makes the key that a renamed group had in A an alias of the group. */
static int alias_group(struct builder *builder, const struct group *group, uint32_t number)
{
	const char *before = cgroup_match_find(&builder->renamed, group->cgroup);
	struct compared_group *compared = &builder->comparison->groups.data[number];
	uint32_t *place;

	if (!before)
		return 0;
	text_clear(&builder->key);
	cgroup_match_append_key(before, group, &builder->key);
	compared->renamed_from = arena_copy(&builder->comparison->arena, before, strlen(before));
	place = place_of(builder, text_string(&builder->key), builder->key.length);
	if (builder->key.failed || !compared->renamed_from || !place)
		return -ENOMEM;
	if (*place == NO_GROUP)
		*place = number;
	return 0;
}

static int number_group(struct builder *builder, const struct group *group, bool after,
			uint32_t *ret)
{
	uint32_t *place = place_of_number(builder, group->number);

	if (!place)
		return -ENOMEM;
	if (*place == NO_GROUP) {
		struct compared_group *compared;

		if (add_group(builder, group->key, strlen(group->key), place) < 0)
			return -ENOMEM;
		*ret = *place;
		compared = &builder->comparison->groups.data[*ret];
		compared->cgroup_end = group->cgroup_end;
		compared->process_end = group->process_end;
		return after ? alias_group(builder, group, *ret) : 0;
	}
	*ret = *place;
	return 0;
}

/* Notes the age of a task if it is the oldest so far; a snapshot without a clock knows none. */
static void note_age(struct compared_group *group, bool after, const struct snapshot *snapshot,
		     uint32_t task)
{
	uint64_t now = snapshot->facts[FACT_boottime_ns].number;
	uint64_t start = snapshot->tasks[task].start_time_ns;

	if (start < now && now - start > group->age_ns[after])
		group->age_ns[after] = now - start;
}

static int number_tasks(struct builder *builder, const struct grouping *grouping, bool after,
			const struct compare_run *run)
{
	uint32_t *tasks = run->rows[METRIC_OF_THREAD].group_of;
	uint32_t *processes = run->rows[METRIC_OF_PROCESS].group_of;
	uint32_t own = dictionary_find(run->snapshot->strings, OWN_NAME, strlen(OWN_NAME));

	for (size_t i = 0; i < grouping->group_count; i++) {
		const struct group *group = &grouping->groups[i];
		struct compared_group *compared;
		uint32_t number;

		if (number_group(builder, group, after, &number) < 0)
			return -ENOMEM;
		compared = &builder->comparison->groups.data[number];
		for (uint32_t task = 0; task < group->tasks; task++) {
			uint32_t row = grouping->rows[group->first + task];

			tasks[row] = number;
			note_age(compared, after, run->snapshot, row);
			compared->own_tasks +=
				own &&
				run->snapshot->processes[run->snapshot->tasks[row].process].pcomm ==
					own;
			/* In an interval a row without a tid is no task that lives. */
			*(after ? &compared->tasks_after : &compared->tasks_before) +=
				!run->seconds || run->snapshot->tasks[row].tid;
		}
	}
	for (uint32_t row = 0; row < run->snapshot->process_count; row++)
		processes[row] = tasks[run->snapshot->processes[row].first_task];
	return 0;
}

static int add_rows(struct compare_layout *layout, struct member_rows *rows, size_t count)
{
	rows->count = count;
	return arena_array(&layout->arena, rows->group_of, count);
}

static int lay_run(struct builder *builder, bool after, struct compare_run *run)
{
	CLEANUP(grouping_free_pointer) struct grouping *grouping = NULL;
	const struct snapshot *snapshot = run->snapshot;
	int status;

	if (add_rows(builder->layout, &run->rows[METRIC_OF_THREAD], snapshot->task_count) < 0 ||
	    add_rows(builder->layout, &run->rows[METRIC_OF_PROCESS], snapshot->process_count) < 0)
		return -ENOMEM;
	status = grouping_new(snapshot, builder->options->axis, builder->census, builder->keys,
			      &grouping);
	return status < 0 ? status : number_tasks(builder, grouping, after, run);
}

/* B comes first, because it knows the names that its cgroups had in A. */
static int lay_runs(struct builder *builder)
{
	struct compare_layout *layout = builder->layout;

	for (size_t i = layout->before_count; i < layout->run_count; i++)
		if (lay_run(builder, true, &layout->runs[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < layout->before_count; i++)
		if (lay_run(builder, false, &layout->runs[i]) < 0)
			return -ENOMEM;
	layout->first_exited = builder->comparison->groups.count;
	return 0;
}

/* Whether the axis puts threads of one process into different groups, by name or scope. */
static bool tells_threads_apart(enum group_axis axis)
{
	return axis == AXIS_COMM || axis == AXIS_COMM_EXACT || axis == AXIS_THREAD ||
	       axis == AXIS_SCOPE;
}

/* The group for exited threads of processes with this process's name. */
static int exited_group_of(struct builder *builder, uint32_t process, uint32_t *ret)
{
	const struct snapshot *snapshot = builder->layout->join.after;
	const char *name = snapshot_text(snapshot, snapshot->processes[process].pcomm);
	uint32_t *place;
	int status;

	text_clear(&builder->key);
	/*
	 * No name begins with this byte, so the key differs from that of a
	 * thread with the group's name.
	 */
	text_append(&builder->key, "\1", 1);
	status = census_append_key(builder->processes, name, &builder->key);
	text_append_string(&builder->key, EXITED_SUFFIX);
	if (status < 0 || builder->key.failed)
		return -ENOMEM;
	place = place_of(builder, builder->key.data, builder->key.length);
	if (!place)
		return -ENOMEM;
	if (*place == NO_GROUP)
		status = add_group(builder, builder->key.data + 1, builder->key.length - 1, place);
	*ret = *place;
	return status;
}

static int lay_exited(struct builder *builder)
{
	struct compare_layout *layout = builder->layout;
	const struct compare_run *after = &layout->runs[1];
	bool apart = tells_threads_apart(builder->options->axis);
	uint32_t *exited_group;

	if (arena_array(&layout->arena, layout->exited_group, after->snapshot->process_count) < 0)
		return -ENOMEM;
	exited_group = layout->exited_group;
	if (apart && census_of_sides(AXIS_PCOMM, &builder->options->grouping, builder->sides,
				     &builder->processes) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < after->snapshot->process_count; row++) {
		exited_group[row] = NO_GROUP;
		if (!exited_any(&layout->join, row))
			continue;
		if (!apart)
			exited_group[row] = after->rows[METRIC_OF_PROCESS].group_of[row];
		else if (exited_group_of(builder, row, &exited_group[row]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int lay_interval(struct builder *builder)
{
	struct compare_layout *layout = builder->layout;
	int status = join_init(&layout->join, &layout->arena, layout->runs[0].snapshot,
			       layout->runs[1].snapshot);

	return status < 0 ? status : lay_exited(builder);
}

static int build(struct builder *builder)
{
	struct compare_layout *layout = builder->layout;
	const struct grouping_options *options = &builder->options->grouping;
	enum group_axis axis = builder->options->axis;
	int status = census_of_sides(axis, options, builder->sides, &builder->census);

	if (status == 0 && (axis == AXIS_CGROUP || axis == AXIS_ALL))
		status = cgroup_match(builder->sides, options, &builder->renamed);
	if (status == 0)
		status = lay_runs(builder);
	if (status == 0 && layout->is_interval)
		status = lay_interval(builder);
	layout->group_count = builder->comparison->groups.count;
	if (status == 0)
		status = compare_layout_count(layout, true);
	if (status < 0)
		return status;
	if (layout->is_interval)
		return compare_layout_count_interval(layout, builder->comparison);
	compare_layout_average(layout, builder->comparison);
	return 0;
}

static void add_runs(struct compare_layout *layout, const struct compare_side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		struct compare_run *run = &layout->runs[layout->run_count++];

		run->snapshot = side->snapshots[i];
		run->is_filtered = run->snapshot->facts[FACT_filter].present;
		run->seconds = (double)run->snapshot->interval_ns / 1e9;
	}
}

int compare_layout_begin(struct compare_layout *layout, const struct compare_side *sides,
			 const struct comparison *comparison)
{
	*layout = (struct compare_layout){ .is_interval = comparison->mode == COMPARE_INTERVAL,
					   .is_rates = comparison->mode == COMPARE_INTERVALS };
	if (arena_array(&layout->arena, layout->runs, sides[0].count + sides[1].count) < 0)
		return -ENOMEM;
	add_runs(layout, &sides[0]);
	layout->before_count = layout->run_count;
	add_runs(layout, &sides[1]);
	return 0;
}

int compare_layout_init(struct compare_layout *layout, const struct compare_side *sides,
			const struct compare_options *options, struct comparison *comparison)
{
	struct builder builder = { .layout = layout,
				   .options = options,
				   .sides = sides,
				   .comparison = comparison,
				   .keys = dictionary_new() };
	int status = compare_layout_begin(layout, sides, comparison);

	if (status == 0)
		status = builder.keys ? build(&builder) : -ENOMEM;
	builder_clear(&builder);
	if (status < 0)
		compare_layout_clear(layout);
	return status;
}

const struct column *compare_column(const struct compare_run *run, const struct metric *metric)
{
	return metric_is_reading(metric) ? sheet_find(run->sheet, metric->name) :
					   &run->snapshot->columns[metric_number(metric)];
}

bool compare_is_unmeasured(const struct compare_layout *layout, const struct metric *metric)
{
	for (size_t run = 0; run < layout->run_count; run++) {
		const struct column *column = compare_column(&layout->runs[run], metric);

		if (column && column->values)
			return false;
	}
	return true;
}

const char *compare_layout_reason(const struct compare_layout *layout, const struct metric *metric,
				  bool after_is_known)
{
	size_t run = after_is_known ? 0 : layout->before_count;
	enum metric_id cause;
	const char *reason =
		absence_reason(layout->runs[run].snapshot, metric_number(metric), &cause);

	return reason ? reason : "no task was measured on both sides";
}
