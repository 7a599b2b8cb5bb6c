/* SPDX-License-Identifier: MIT */
/* How many members each group has, how long they lived, and which came and went. */
#include <errno.h>

#include "analyze/compare/compare_layout.h"
#include "analyze/compare/comparison.h"
#include "model/snapshot/snapshot.h"

/* A group of several runs has as many tasks as one run on average; 0 only if no run has one. */
static void average_tasks(const struct compare_layout *layout, struct comparison *comparison)
{
	uint32_t before = (uint32_t)layout->before_count;
	uint32_t after = (uint32_t)(layout->run_count - layout->before_count);

	for (size_t i = 0; i < comparison->groups.count; i++) {
		struct compared_group *group = &comparison->groups.data[i];

		group->tasks_before = (group->tasks_before + before - 1) / before;
		group->tasks_after = (group->tasks_after + after - 1) / after;
	}
}

static uint64_t start_of(const struct snapshot *snapshot, enum metric_scope scope, size_t row)
{
	return scope == METRIC_OF_THREAD ? snapshot->tasks[row].start_time_ns :
					   snapshot->processes[row].start_time_ns;
}

static int count_lives(struct compare_layout *layout, struct compare_run *run,
		       enum metric_scope scope)
{
	const struct fact *now = &run->snapshot->facts[FACT_boottime_ns];
	struct member_rows *rows = &run->rows[scope];

	if (!now->present)
		return 0;
	rows->lives = arena_alloc(&layout->arena, (layout->group_count + 1) * sizeof(*rows->lives));
	if (!rows->lives)
		return -ENOMEM;
	for (size_t row = 0; row < rows->count; row++) {
		uint64_t start = start_of(run->snapshot, scope, row);

		if (start < now->number)
			rows->lives[rows->group_of[row]] += (double)(now->number - start) / 1e9;
	}
	return 0;
}

/* Lifetimes are needed only for the rates of populations. */
static int count_run(struct compare_layout *layout, struct compare_run *run)
{
	for (int scope = METRIC_OF_THREAD; scope <= METRIC_OF_PROCESS; scope++) {
		struct member_rows *rows = &run->rows[scope];

		rows->members =
			arena_alloc(&layout->arena, (layout->group_count + 1) * sizeof(uint32_t));
		if (!rows->members)
			return -ENOMEM;
		for (size_t row = 0; row < rows->count; row++)
			rows->members[rows->group_of[row]]++;
		if (!layout->is_interval && count_lives(layout, run, (enum metric_scope)scope) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int count_missed(struct compare_layout *layout, enum metric_scope scope,
			const uint32_t *before_of)
{
	const struct member_rows *rows = &layout->runs[1].rows[scope];

	layout->before_of[scope] = before_of;
	layout->missed[scope] =
		arena_alloc(&layout->arena, (layout->group_count + 1) * sizeof(uint32_t));
	if (!layout->missed[scope])
		return -ENOMEM;
	for (size_t row = 0; row < rows->count; row++)
		layout->missed[scope][rows->group_of[row]] += before_of[row] == JOIN_MISSED;
	return 0;
}

/* Counts, for an interval, the members of each group that came, that went and that A missed. */
static int count_interval(struct compare_layout *layout, struct comparison *comparison)
{
	const struct join *join = &layout->join;
	const struct compare_run *before = &layout->runs[0], *after = &layout->runs[1];
	const struct member_rows *was = &before->rows[METRIC_OF_THREAD];
	const struct member_rows *is = &after->rows[METRIC_OF_THREAD];
	struct compared_group *groups = comparison->groups.data;

	if (count_missed(layout, METRIC_OF_THREAD, join->before_of_task) < 0 ||
	    count_missed(layout, METRIC_OF_PROCESS, join->before_of_process) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < is->count; row++)
		groups[is->group_of[row]].born += join->before_of_task[row] == JOIN_BORN;
	for (size_t i = 0; i < layout->group_count; i++)
		groups[i].missed = layout->missed[METRIC_OF_THREAD][i];
	for (size_t i = 0; i < join->ended_count; i++)
		groups[was->group_of[join->ended_tasks[i]]].ended++;
	for (uint32_t row = 0; row < after->snapshot->process_count; row++) {
		uint32_t exited = layout->exited_group[row];
		uint32_t old = join->before_of_process[row];

		/*
		 * The members of a group of exited threads are the processes
		 * whose threads exited.
		 */
		if (exited == NO_GROUP || exited < layout->first_exited)
			continue;
		is->members[exited]++;
		was->members[exited] += join_is_row(old);
		groups[exited].ended += join_is_row(old) ? join->ended_in_process[old] : 0;
	}
	return 0;
}

int compare_layout_count(struct compare_layout *layout, struct comparison *comparison)
{
	int status = 0;

	for (size_t i = 0; i < layout->run_count && status == 0; i++)
		status = count_run(layout, &layout->runs[i]);
	if (status == 0 && layout->is_interval)
		status = count_interval(layout, comparison);
	else if (status == 0)
		average_tasks(layout, comparison);
	return status;
}
