/* SPDX-License-Identifier: MIT */
/* Opens the directories of the processes of a snapshot, and checks whose they are. */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "collect/collector.h"
#include "host/proc/proc_file.h"
#include "collect/proc/proc_parse.h"

/* On a recorded host a pid is never used again. */
int process_check(const struct capture *capture, int dir, const struct process *process,
		  struct proc_buffer *buffer)
{
	struct proc_identity identity;
	char path[64];
	ssize_t status;

	if (!capture->host->live)
		return 0;
	snprintf(path, sizeof(path), "task/%" PRId32 "/stat", process->tgid);
	status = proc_read(dir, path, buffer);
	if (status < 0)
		return (int)status;
	if (!proc_parse_identity(buffer->data, &identity))
		return -EBADMSG;
	return metric_from_raw(identity.start_ticks, RAW_TICKS, &capture->scale) ==
			       process->start_time_ns ?
		       0 :
		       -ESRCH;
}

/*
 * A leader that has ended shows neither memory nor descriptors, but its living threads do, each in
 * its own directory.  Replaces *dir by the directory of a living thread; false when there is none.
 */
bool process_find_living(const struct snapshot *snapshot, uint32_t row, int *dir)
{
	uint32_t task = snapshot->processes[row].first_task;
	char path[32];
	int living;

	if (!task_has_ended(snapshot, task))
		return true;
	while (++task < snapshot->task_count && snapshot->tasks[task].process == row) {
		if (task_has_ended(snapshot, task))
			continue;
		snprintf(path, sizeof(path), "task/%" PRId32, snapshot->tasks[task].tid);
		living = proc_open(*dir, path);
		if (living < 0)
			continue;
		close_fd(dir);
		*dir = living;
		return true;
	}
	return false;
}

bool process_lacks_memory(const struct capture *capture, uint32_t row)
{
	const struct snapshot *snapshot = capture->snapshot;
	const struct source_tally *statm = &capture->tallies[SOURCE_STATM];
	const struct walked_process *walked =
		walked_process_find(capture, &snapshot->processes[row]);
	uint64_t size;

	if (snapshot_get(snapshot, METRIC_vm_bytes, row, &size) || statm->failed)
		return false;
	return statm->read || (walked && walked->is_sized &&
			       !task_has_ended(snapshot, snapshot->processes[row].first_task));
}

int process_open(const struct capture *capture, uint32_t row, struct proc_buffer *buffer)
{
	const struct process *process = &capture->snapshot->processes[row];
	CLEANUP(close_fd) int dir = proc_open_number(capture->host->proc, process->tgid);
	int status = dir < 0 ? dir : process_check(capture, dir, process, buffer);

	if (status < 0)
		return status;
	return process_find_living(capture->snapshot, row, &dir) ? TAKE_FD(dir) : -ESRCH;
}
