/* SPDX-License-Identifier: MIT */
/*
 * Reads the procfs files of tasks that have a row in the snapshot, and fills the rows' cells.
 *
 * Each task is read through a directory fd of its own, and its stat is read last.  If stat can
 * still be read, the task lived while its other files were read.  So a file that was missing is
 * one that the kernel does not have, and no value belongs to another task with the same number.  A
 * task that has ended by then is only counted.
 *
 * stat also identifies the task, so it is read even when its metrics are switched off.
 */
#ifndef COLLECT_PROC_READER_H
#define COLLECT_PROC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct capture;
struct proc_buffer;

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
 * For all tasks that the iterator listed, reads the metrics that the iterator does not have, from
 * only those files that have them; usually there are none.  The row of a task that has ended, or
 * whose number belongs to another task by now, stays as it is.  Returns 0 or -ENOMEM.
 */
int proc_reader_add(struct capture *capture);

/*
 * Reads a cgroup file and finds the path in the capture's hierarchy, in the buffer; NULL when it
 * has none.  Returns the file's length or a negative errno.
 */
ssize_t proc_read_cgroup(const struct capture *capture, int dir, const char *name,
			 struct proc_buffer *buffer, const char **ret_path);

#endif
