/* SPDX-License-Identifier: MIT */
/*
 * Snapshots made by hand, one call for each task.
 */
#ifndef HAND_SNAPSHOT_H
#define HAND_SNAPSHOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/snapshot/snapshot.h"

static inline struct snapshot *hand_new(void)
{
	struct snapshot *snapshot;

	assert_int_equal(snapshot_new(&snapshot), 0);
	return snapshot;
}

static inline uint32_t hand_text(struct snapshot *snapshot, const char *text)
{
	uint32_t id;

	assert_int_equal(snapshot_intern(snapshot, text, strlen(text), &id), 0);
	return id;
}

/* Adds a thread and its process; the process has the name of its leader.  Returns its row. */
static inline uint32_t hand_task(struct snapshot *snapshot, int32_t tgid, int32_t tid,
				 const char *comm, const char *cgroup)
{
	struct task task = { .tid = tid, .start_time_ns = (uint64_t)tid * 10000000 };
	uint32_t row;

	task.comm = hand_text(snapshot, comm);
	task.cgroup = hand_text(snapshot, cgroup);
	assert_int_equal(snapshot_process(snapshot, tgid, &task.process), 0);
	if (tgid == tid) {
		snapshot->processes[task.process].pcomm = task.comm;
		snapshot->processes[task.process].start_time_ns = task.start_time_ns;
	}
	assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
	return row;
}

/* Sets a metric of a task, or of a process, by its row. */
static inline void hand_set(struct snapshot *snapshot, enum metric_id id, uint32_t row,
			    uint64_t value)
{
	assert_int_equal(snapshot_need_column(snapshot, id), 0);
	snapshot_set(snapshot, id, row, value);
}

#endif
