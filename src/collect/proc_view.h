/* SPDX-License-Identifier: MIT */
/*
 * How the kernel makes what /proc shows out of its own counters, so that a
 * collector that sees the counters themselves reports the same.  Pure
 * functions; each follows the kernel's function of the name it gives.
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
 * cputime_adjust(): the time on a CPU is exact, but how it divides into user
 * and system is only sampled by the tick; so it is divided as the samples are.
 * `previous` is what was shown last: neither part may fall.
 */
struct cputime cputime_adjust(struct cputime sampled, uint64_t runtime, struct cputime previous);

/* task_state_index(): the letter of R S D T t X Z P I. */
char task_state_letter(uint32_t state, uint32_t exit_state);

/*
 * proc_task_name() of a kernel thread, wq_worker_comm() included.  Writes the
 * name, which need not end with a NUL, and returns its length.
 */
size_t kernel_thread_name(const char comm[TASK_COMM_SIZE], const struct name_fields *fields,
			  char name[TASK_NAME_SIZE]);

#endif
