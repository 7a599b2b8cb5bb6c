/* SPDX-License-Identifier: MIT */
/* Rows, and which task or group each is of, from moment to moment. */
#include <stdlib.h>
#include <string.h>

#include "model/snapshot/snapshot.h"
#include "tui/screen/top_state.h"

size_t top_rows(const struct top *top)
{
	if (top->shows_jobs)
		return top_job_rows(top);
	return top->view.grouping ? top->view.grouping->group_count : 0;
}

uint32_t top_task(const struct top *top, size_t row)
{
	return top->view.grouping->rows[top->view.grouping->groups[row].first];
}

void row_identity_clear(struct row_identity *identity)
{
	free(identity->key);
	*identity = (struct row_identity){ 0 };
}

void top_identify(const struct top *top, size_t row, struct row_identity *ret)
{
	const struct grouping *grouping = top->view.grouping;
	const struct task *task = &grouping->snapshot->tasks[top_task(top, row)];
	const struct process *process = &grouping->snapshot->processes[task->process];

	*ret = (struct row_identity){ .tgid = process->tgid };
	if (grouping->axis == AXIS_THREAD) {
		ret->tid = task->tid;
		ret->start_time_ns = task->start_time_ns;
	} else if (grouping->axis == AXIS_PROCESS) {
		ret->start_time_ns = process->start_time_ns;
	} else {
		ret->tgid = 0;
		ret->key = strdup(grouping->groups[row].key);
	}
}

int64_t top_find_identity(const struct top *top, const struct row_identity *identity)
{
	for (size_t row = 0; row < top_rows(top); row++) {
		struct row_identity other;
		bool is_same;

		top_identify(top, row, &other);
		is_same = other.tgid == identity->tgid && other.tid == identity->tid &&
			  other.start_time_ns == identity->start_time_ns &&
			  (!identity->key == !other.key) &&
			  (!other.key || strcmp(other.key, identity->key) == 0);
		row_identity_clear(&other);
		if (is_same)
			return (int64_t)row;
	}
	return -1;
}

void top_keep_place(struct top *top)
{
	int64_t row = top->follows ? top_find_identity(top, &top->followed) : -1;

	if (row >= 0)
		top->selected = (size_t)row;
	if (top->selected >= top_rows(top))
		top->selected = top_rows(top) ? top_rows(top) - 1 : 0;
}
