/* SPDX-License-Identifier: MIT */
#include "analyze/match/exited.h"

#include <errno.h>
#include <string.h>

#include "analyze/match/join.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "model/counter.h"
#include "model/snapshot/snapshot.h"

#define NO_HEIR UINT32_MAX
#define NO_TOTAL (-1)
#define IN_EXITED (-2)

/* The kernel keeps one sum of I/O for exited threads and for children that were waited for. */
static const struct exited_total {
	enum metric_id living, exited;
	int children; /* the total of children that were waited for, or one of the above */
} totals[] = {
	{ METRIC_run_time_ns, METRIC_dead_run_time_ns, NO_TOTAL },
	{ METRIC_utime_ns, METRIC_dead_utime_ns, METRIC_child_utime_ns },
	{ METRIC_stime_ns, METRIC_dead_stime_ns, METRIC_child_stime_ns },
	{ METRIC_voluntary_csw, METRIC_dead_voluntary_csw, METRIC_child_voluntary_csw },
	{ METRIC_nonvoluntary_csw, METRIC_dead_nonvoluntary_csw, METRIC_child_nonvoluntary_csw },
	{ METRIC_minflt, METRIC_dead_minflt, METRIC_child_minflt },
	{ METRIC_majflt, METRIC_dead_majflt, METRIC_child_majflt },
	{ METRIC_rchar, METRIC_dead_rchar, IN_EXITED },
	{ METRIC_wchar, METRIC_dead_wchar, IN_EXITED },
	{ METRIC_syscr, METRIC_dead_syscr, IN_EXITED },
	{ METRIC_syscw, METRIC_dead_syscw, IN_EXITED },
	{ METRIC_read_bytes, METRIC_dead_read_bytes, IN_EXITED },
	{ METRIC_write_bytes, METRIC_dead_write_bytes, IN_EXITED },
	{ METRIC_cancelled_write_bytes, METRIC_dead_cancelled_write_bytes, IN_EXITED },
};

static const struct exited_total *total_of(enum metric_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++)
		if (totals[i].living == id)
			return &totals[i];
	return NULL;
}

int exited_total_of(enum metric_id id)
{
	const struct exited_total *total = total_of(id);

	return total ? (int)total->exited : -1;
}

bool exited_any(const struct join *join, uint32_t process)
{
	uint32_t old = join->before_of_process[process];
	uint64_t before, after;

	if (old == JOIN_MISSED)
		return false;
	if (join_is_row(old) && join->ended_in_process[old])
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++) {
		before = 0;
		if (join_is_row(old) && !snapshot_get(join->before, totals[i].exited, old, &before))
			continue;
		if (snapshot_get(join->after, totals[i].exited, process, &after) && after > before)
			return true;
	}
	return false;
}

/*
 * Every thread runs, and the total run time of exited threads contains no
 * children and is read directly.  So when it grew although no thread of A
 * ended, unseen threads came and went.
 */
bool exited_passed(const struct join *join, uint32_t process)
{
	uint32_t old = join->before_of_process[process];
	uint64_t before = 0, after;

	if (old == JOIN_MISSED || (join_is_row(old) && join->ended_in_process[old]) ||
	    (join_is_row(old) &&
	     !snapshot_get(join->before, METRIC_dead_run_time_ns, old, &before)))
		return false;
	return snapshot_get(join->after, METRIC_dead_run_time_ns, process, &after) &&
	       after > before;
}

/* The process that probably waited for one that ended: its nearest ancestor that lives on. */
static uint32_t heir_of(const struct snapshot *before, const uint32_t *heirs, uint32_t process)
{
	uint64_t parent;
	int64_t row;

	/* Chains of parents are short; one that never ends comes from a forged file. */
	for (unsigned steps = 0; steps < 64; steps++) {
		if (!snapshot_get(before, METRIC_ppid, process, &parent))
			return NO_HEIR;
		row = snapshot_find_process(before, (int32_t)parent);
		if (row < 0)
			return NO_HEIR;
		process = (uint32_t)row;
		if (heirs[process] == process)
			return process;
	}
	return NO_HEIR;
}

static void find_heirs(struct exited_sums *sums, const struct join *join)
{
	size_t processes = join->before->process_count;

	for (size_t row = 0; row < processes; row++)
		sums->heirs[row] = NO_HEIR;
	for (uint32_t row = 0; row < join->after->process_count; row++)
		if (join_is_row(join->before_of_process[row]))
			sums->heirs[join->before_of_process[row]] = join->before_of_process[row];
	for (uint32_t row = 0; row < processes; row++)
		if (sums->heirs[row] != row)
			sums->heirs[row] = heir_of(join->before, sums->heirs, row);
}

int exited_sums_init(struct exited_sums *sums, struct arena *arena, const struct join *join)
{
	size_t processes = join->before->process_count;

	if (arena_array(arena, sums->sums, processes) < 0 ||
	    arena_array(arena, sums->missing, processes) < 0 ||
	    arena_array(arena, sums->heirs, processes) < 0)
		return -ENOMEM;
	find_heirs(sums, join);
	return 0;
}

/* Adds what whole processes had done before and their parents' totals now contain. */
static void add_children(struct exited_sums *sums, const struct join *join,
			 const struct exited_total *total)
{
	uint64_t value;

	for (size_t i = 0; i < join->ended_count; i++) {
		uint32_t task = join->ended_tasks[i];
		uint32_t process = join->before->tasks[task].process, heir = sums->heirs[process];

		if (heir == process || heir == NO_HEIR)
			continue;
		if (snapshot_get(join->before, total->living, task, &value))
			counter_add(&sums->sums[heir], value);
		if (join->before->processes[process].first_task != task)
			continue;
		if (snapshot_get(join->before, total->exited, process, &value))
			counter_add(&sums->sums[heir], value);
		if (total->children >= 0 &&
		    snapshot_get(join->before, (enum metric_id)total->children, process, &value))
			counter_add(&sums->sums[heir], value);
	}
}

static void clear_folded(struct exited_sums *sums, const struct join *join)
{
	memset(sums->sums, 0, join->before->process_count * sizeof(*sums->sums));
	memset(sums->missing, 0, join->before->process_count * sizeof(*sums->missing));
}

void exited_sums_fold(struct exited_sums *sums, const struct join *join, enum metric_id id)
{
	const struct exited_total *total = total_of(id);
	uint64_t value;

	clear_folded(sums, join);
	for (size_t i = 0; i < join->ended_count; i++) {
		uint32_t task = join->ended_tasks[i];
		uint32_t process = join->before->tasks[task].process;

		if (snapshot_get(join->before, id, task, &value))
			counter_add(&sums->sums[process], value);
		else
			sums->missing[process]++;
	}
	if (total && total->children == IN_EXITED)
		add_children(sums, join, total);
}

bool exited_sums_fold_total(struct exited_sums *sums, const struct join *join, enum metric_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++) {
		if (totals[i].exited == id) {
			exited_sums_fold(sums, join, totals[i].living);
			return true;
		}
		if (totals[i].children == (int)id) {
			clear_folded(sums, join);
			add_children(sums, join, &totals[i]);
			return true;
		}
	}
	return false;
}

struct exited exited_of(const struct exited_sums *sums, const struct join *join, enum metric_id id,
			uint32_t process)
{
	uint32_t old = join->before_of_process[process];
	int total = exited_total_of(id);
	struct exited exited = { 0 };
	uint64_t before;

	if (total < 0 || old == JOIN_MISSED ||
	    !snapshot_get(join->after, (enum metric_id)total, process, &exited.work))
		return exited;
	if (join_is_row(old)) {
		if (!snapshot_get(join->before, (enum metric_id)total, old, &before) ||
		    sums->missing[old])
			return exited;
		exited.work -= before < exited.work ? before : exited.work;
		exited.work -= sums->sums[old] < exited.work ? sums->sums[old] : exited.work;
	}
	exited.known = true;
	return exited;
}
