/* SPDX-License-Identifier: MIT */
/*
 * Reads tasks whose rows are in the snapshot already, from their procfs files
 * into the rows' cells.
 *
 * Each task is read through a directory fd of its own, its stat last: if that
 * can still be read, the task lived while the others were, so that a file that
 * was not there is one that the kernel does not have, and no value is of another
 * task with the same number.  A task that is gone by then leaves nothing behind
 * but a count.
 *
 * stat also says who a task is, so it is read even when its metrics are switched
 * off.
 */
#ifndef COLLECT_PROC_READER_H
#define COLLECT_PROC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture;

/* One process, or those of its threads that are missing. */
struct proc_job {
	uint32_t process;    /* row */
	uint32_t first_task; /* rows of the tasks to read, one after the other */
	uint32_t task_count;
	bool whole; /* these are all its threads: its totals can be split into living and dead */
};

/*
 * Reads all jobs, on several threads when there are many.  Sets keep[row] to 0
 * for tasks that are gone, cannot be read or are outside the capture's cgroup;
 * counts into the capture's tallies.  Returns 0 or -ENOMEM.
 */
int proc_reader_run(struct capture *capture, const struct proc_job *jobs, size_t job_count,
		    uint8_t *keep);

/*
 * Reads, for all tasks of a finished snapshot, the metrics that the iterator does
 * not have, from just the files that have them; most often there are none.  A
 * task's row stays as it is when the task is gone, or its number is another
 * task's by now.  Returns 0 or -ENOMEM.
 */
int proc_reader_add(struct capture *capture);

#endif
