/* SPDX-License-Identifier: MIT */
/* How many members each group has, how long they lived, and which came and went. */
#include <errno.h>

#include "analyze/compare/layout/compare_layout.h"
#include "analyze/compare/comparison.h"
#include "model/snapshot/snapshot.h"

/* A group of several runs has as many tasks as one run on average; 0 only if no run has one. */
void compare_layout_average(const struct compare_layout *layout, struct comparison *comparison)
{
	uint32_t before = (uint32_t)layout->before_count;
	uint32_t after = (uint32_t)(layout->run_count - layout->before_count);

	for (size_t i = 0; i < comparison->groups.count; i++) {
		struct compared_group *group = &comparison->groups.data[i];

		group->tasks_before = (group->tasks_before + before - 1) / before;
		group->tasks_after = (group->tasks_after + after - 1) / after;
	}
}

/*
 * For how long a row has been counting; 0 when that is not known.  The host itself began with its
 * boot, but in a run its counters and those of cgroups count from the beginning of the run.
 */
static uint64_t life_of(const struct snapshot *snapshot, enum metric_scope scope, size_t row)
{
	uint64_t now = snapshot->facts[FACT_boottime_ns].number, start = 0, wall;

	/* A run knows for how long it followed each thread. */
	if (scope == METRIC_OF_THREAD && snapshot_is_run(snapshot) &&
	    snapshot_get(snapshot, METRIC_wall_time_ns, (uint32_t)row, &wall))
		return wall;
	if (scope == METRIC_OF_THREAD)
		start = snapshot->tasks[row].start_time_ns;
	else if (scope == METRIC_OF_PROCESS)
		start = snapshot->processes[row].start_time_ns;
	else if (snapshot_is_run(snapshot))
		return snapshot->facts[FACT_duration_ns].number;
	return start < now ? now - start : 0;
}

static int count_lives(struct compare_layout *layout, struct compare_run *run,
		       enum metric_scope scope)
{
	const struct fact *now = &run->snapshot->facts[FACT_boottime_ns];
	struct member_rows *rows = &run->rows[scope];

	if (!now->present)
		return 0;
	if (arena_array(&layout->arena, rows->lives, layout->group_count) < 0)
		return -ENOMEM;
	for (size_t row = 0; row < rows->count; row++)
		rows->lives[rows->group_of[row]] +=
			(double)life_of(run->snapshot, scope, row) / 1e9;
	return 0;
}

static int count_scope(struct compare_layout *layout, enum metric_scope scope, bool has_lives)
{
	if (arena_array(&layout->arena, layout->population[0][scope], layout->group_count) < 0 ||
	    arena_array(&layout->arena, layout->population[1][scope], layout->group_count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < layout->run_count; i++) {
		struct member_rows *rows = &layout->runs[i].rows[scope];
		uint32_t *population = layout->population[i >= layout->before_count][scope];

		for (size_t row = 0; row < rows->count; row++)
			population[rows->group_of[row]]++;
		if (member_rows_list(rows, &layout->arena) < 0)
			return -ENOMEM;
		if (has_lives && count_lives(layout, &layout->runs[i], scope) < 0)
			return -ENOMEM;
	}
	return 0;
}

int compare_layout_count(struct compare_layout *layout, bool has_lives)
{
	int status = 0;

	/* Lifetimes are needed only for the rates of populations and of restarted groups. */
	has_lives &= !layout->is_interval && !layout->is_rates;
	for (int scope = 0; scope < SCOPES && status == 0; scope++)
		if (layout->runs[0].rows[scope].group_of)
			status = count_scope(layout, (enum metric_scope)scope, has_lives);
	return status;
}

/* The members of a group of exited threads are the processes whose threads exited. */
static void count_exited(struct compare_layout *layout, struct compared_group *groups)
{
	const struct join *join = &layout->join;

	for (uint32_t row = 0; row < join->after->process_count; row++) {
		uint32_t exited = layout->exited_group[row];
		uint32_t old = join->before_of_process[row];

		if (exited == NO_GROUP || exited < layout->first_exited)
			continue;
		layout->population[1][METRIC_OF_THREAD][exited]++;
		layout->population[0][METRIC_OF_THREAD][exited] += join_is_row(old);
		groups[exited].ended += join_is_row(old) ? join->ended_in_process[old] : 0;
	}
}

/* How many tasks of each group have a process that only this side has, and how many there are. */
struct turnover {
	uint32_t *replaced[SIDES], *tasks[SIDES];
};

static int count_turnover(struct compare_layout *layout, struct turnover *ret)
{
	const struct join *join = &layout->join;
	const struct snapshot *of[SIDES] = { join->before, join->after };
	uint8_t *stays;

	if (arena_array(&layout->arena, stays, join->before->process_count) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < join->after->process_count; row++)
		if (join_is_row(join->before_of_process[row]))
			stays[join->before_of_process[row]] = 1;
	for (int side = 0; side < SIDES; side++) {
		const struct member_rows *tasks = &layout->runs[side].rows[METRIC_OF_THREAD];

		if (arena_array(&layout->arena, ret->replaced[side], layout->group_count) < 0 ||
		    arena_array(&layout->arena, ret->tasks[side], layout->group_count) < 0)
			return -ENOMEM;
		for (uint32_t row = 0; row < tasks->count; row++) {
			uint32_t process = of[side]->tasks[row].process;

			ret->tasks[side][tasks->group_of[row]]++;
			ret->replaced[side][tasks->group_of[row]] +=
				side ? join->before_of_process[process] == JOIN_BORN :
				       !stays[process];
		}
	}
	return 0;
}

/* A group in which at least half of the tasks of either side belong to processes of that side. */
static enum restart restart_of(const struct turnover *turnover, size_t group)
{
	bool is_whole = true;

	for (int side = 0; side < SIDES; side++) {
		uint32_t replaced = turnover->replaced[side][group];

		if (replaced == 0 || replaced * 2 < turnover->tasks[side][group])
			return RESTART_NONE;
		is_whole &= replaced == turnover->tasks[side][group];
	}
	return is_whole ? RESTART_WHOLE : RESTART_PART;
}

/* Their two lives are compared by rates, so the lives are needed. */
static int find_restarted(struct compare_layout *layout, struct compared_group *groups)
{
	struct turnover turnover;
	bool has_any = false;
	int status = count_turnover(layout, &turnover);

	for (size_t i = 0; i < layout->first_exited && status == 0; i++) {
		groups[i].restart = restart_of(&turnover, i);
		has_any |= groups[i].restart != RESTART_NONE;
	}
	for (int side = 0; side < SIDES && has_any && status == 0; side++) {
		status = count_lives(layout, &layout->runs[side], METRIC_OF_THREAD);
		if (status == 0)
			status = count_lives(layout, &layout->runs[side], METRIC_OF_PROCESS);
	}
	return status;
}

int compare_layout_count_interval(struct compare_layout *layout, struct comparison *comparison)
{
	const struct join *join = &layout->join;
	const uint32_t *was = layout->runs[0].rows[METRIC_OF_THREAD].group_of;
	const struct member_rows *tasks = &layout->runs[1].rows[METRIC_OF_THREAD];
	const struct member_rows *processes = &layout->runs[1].rows[METRIC_OF_PROCESS];
	struct compared_group *groups = comparison->groups.data;

	layout->before_of[METRIC_OF_THREAD] = join->before_of_task;
	layout->before_of[METRIC_OF_PROCESS] = join->before_of_process;
	for (uint32_t row = 0; row < tasks->count; row++) {
		uint32_t group = tasks->group_of[row];

		groups[group].born += join->before_of_task[row] == JOIN_BORN;
		groups[group].missed += join->before_of_task[row] == JOIN_MISSED;
	}
	for (size_t i = 0; i < layout->group_count; i++)
		layout->population[0][METRIC_OF_THREAD][i] += groups[i].missed;
	for (uint32_t row = 0; row < processes->count; row++)
		layout->population[0][METRIC_OF_PROCESS][processes->group_of[row]] +=
			join->before_of_process[row] == JOIN_MISSED;
	for (size_t i = 0; i < join->ended_count; i++)
		groups[was[join->ended_tasks[i]]].ended++;
	count_exited(layout, groups);
	return find_restarted(layout, groups);
}
