/* SPDX-License-Identifier: MIT */
/*
 * Calculates what /proc shows from the kernel's own counters, as the kernel does, so that a
 * collector that sees the counters reports the same.  Pure functions; each follows the kernel
 * function that its comment names.
 */
#ifndef COLLECT_PROC_VIEW_H
#define COLLECT_PROC_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/task.h"

struct cputime {
	uint64_t utime;
	uint64_t stime;
};

/*
 * cputime_adjust(): the total time on a CPU is exact, but the tick only samples whether it was
 * user or system time.  So the total is divided in the proportion of the samples.  `previous` is
 * what was shown last: neither part may decrease.
 */
struct cputime cputime_adjust(struct cputime sampled, uint64_t runtime, struct cputime previous);

/*
 * proc_task_name() of a kernel thread, wq_worker_comm() included.  Writes the
 * name, which need not end with a NUL, and returns its length.
 */
size_t kernel_thread_name(const char comm[TASK_COMM_SIZE], const struct name_fields *fields,
			  char name[TASK_NAME_SIZE]);

#endif
