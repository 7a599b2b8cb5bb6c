/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/snapshot/snapshot.h"

/* Adds the cell of one row to that of another, by the fold of the metric. */
static void fold_cell(struct snapshot *snapshot, enum metric_id id, uint32_t into, uint32_t from)
{
	uint64_t sum, value;
	bool has_sum = snapshot_get(snapshot, id, into, &sum);

	if (!has_sum)
		return;
	if (!snapshot_get(snapshot, id, from, &value)) {
		snapshot_clear(snapshot, id, into);
		return;
	}
	switch (metrics[id].fold) {
	case FOLD_SUM:
		snapshot_set(snapshot, id, into, sum + value);
		break;
	case FOLD_MAX:
		snapshot_set(snapshot, id, into, value > sum ? value : sum);
		break;
	case FOLD_MIN: /* 0 means that there was no event */
		snapshot_set(snapshot, id, into, sum && (!value || sum < value) ? sum : value);
		break;
	case FOLD_RANGE:
	case FOLD_MODE:
	case FOLD_CPUSET:
	case FOLD_FORMULA:
		if (sum != value)
			snapshot_clear(snapshot, id, into);
		break;
	}
}

static void fold_row(struct snapshot *snapshot, uint32_t into, uint32_t from)
{
	struct task *task = &snapshot->tasks[into];

	task->tid = 0;
	task->start_time_ns = 0;
	task->scope = 0;
	if (task->cgroup != snapshot->tasks[from].cgroup)
		task->cgroup = 0;
	for (int id = 0; id < METRIC_STORED; id++)
		if (metrics[id].scope == METRIC_OF_THREAD)
			fold_cell(snapshot, (enum metric_id)id, into, from);
}

int snapshot_fold_threads(struct snapshot *snapshot)
{
	CLEANUP(free_pointer) uint32_t *sums = calloc(snapshot->process_count + 1, sizeof(*sums));
	CLEANUP(free_pointer) uint8_t *keep = calloc(snapshot->task_count + 1, 1);

	if (!sums || !keep)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		uint32_t process = snapshot->tasks[row].process;

		if (snapshot->processes[process].first_task == row || !sums[process])
			keep[row] = 1;
		else
			fold_row(snapshot, sums[process] - 1, row);
		if (snapshot->processes[process].first_task != row && !sums[process])
			sums[process] = row + 1;
	}
	if (snapshot_keep(snapshot, keep) < 0)
		return -ENOMEM;
	return snapshot_finish(snapshot);
}
