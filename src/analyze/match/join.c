/* SPDX-License-Identifier: MIT */
#include "analyze/match/join.h"

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"

#define TICKS_USUAL 100
#define SECOND_NS 1000000000

static int64_t order_of_tasks(const struct snapshot *a, uint32_t first, const struct snapshot *b,
			      uint32_t second)
{
	int64_t tgid = a->processes[a->tasks[first].process].tgid;
	int64_t other = b->processes[b->tasks[second].process].tgid;

	return tgid != other ? tgid - other : (int64_t)a->tasks[first].tid - b->tasks[second].tid;
}

/*
 * A task that started before this existed when A was taken, so A should have
 * it.  Start times are cut to whole ticks, so a task that started in A's own
 * tick counts as younger than A.
 */
static uint64_t birth_of(const struct snapshot *before)
{
	const struct fact *now = &before->facts[FACT_boottime_ns];
	const struct fact *ticks = &before->facts[FACT_clock_ticks];
	uint64_t tick = SECOND_NS / (ticks->present && ticks->number ? ticks->number : TICKS_USUAL);

	if (!now->present)
		return UINT64_MAX;
	return now->number < tick ? 0 : now->number - tick;
}

static void end_task(struct join *join, uint32_t row)
{
	join->ended_tasks[join->ended_count++] = row;
	join->ended_in_process[join->before->tasks[row].process]++;
}

/* Both are in order of (tgid, tid), so one walk over both joins them. */
static void join_tasks(struct join *join, uint64_t birth)
{
	const struct snapshot *a = join->before, *b = join->after;
	uint32_t old = 0;

	for (uint32_t row = 0; row < b->task_count; row++) {
		uint64_t start = b->tasks[row].start_time_ns;

		while (old < a->task_count && order_of_tasks(a, old, b, row) < 0)
			end_task(join, old++);
		if (old < a->task_count && order_of_tasks(a, old, b, row) == 0 &&
		    a->tasks[old].start_time_ns == start) {
			join->before_of_task[row] = old++;
			continue;
		}
		join->before_of_task[row] = start > birth ? JOIN_BORN : JOIN_MISSED;
		*(start > birth ? &join->born : &join->missed) += 1;
	}
	while (old < a->task_count)
		end_task(join, old++);
}

static void join_processes(struct join *join, uint64_t birth)
{
	const struct snapshot *a = join->before, *b = join->after;
	uint32_t old = 0;

	join->processes_ended = a->process_count;
	for (uint32_t row = 0; row < b->process_count; row++) {
		const struct process *process = &b->processes[row];

		while (old < a->process_count && a->processes[old].tgid < process->tgid)
			old++;
		if (old < a->process_count && a->processes[old].tgid == process->tgid &&
		    a->processes[old].start_time_ns == process->start_time_ns) {
			join->before_of_process[row] = old++;
			join->processes_ended--;
		} else {
			join->before_of_process[row] =
				process->start_time_ns > birth ? JOIN_BORN : JOIN_MISSED;
		}
	}
}

int join_init(struct join *join, struct arena *arena, const struct snapshot *before,
	      const struct snapshot *after)
{
	uint64_t birth = birth_of(before);

	*join = (struct join){ .before = before, .after = after };
	if (arena_array(arena, join->before_of_task, after->task_count) < 0 ||
	    arena_array(arena, join->before_of_process, after->process_count) < 0 ||
	    arena_array(arena, join->ended_tasks, before->task_count) < 0 ||
	    arena_array(arena, join->ended_in_process, before->process_count) < 0)
		return -ENOMEM;
	join_tasks(join, birth);
	join_processes(join, birth);
	return 0;
}

size_t join_first_ended(const struct join *join, uint32_t process)
{
	return array_bisect(join->ended_tasks, join->ended_count,
			    join->before->tasks[*item].process < process);
}
