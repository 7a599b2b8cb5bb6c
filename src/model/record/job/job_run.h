/* SPDX-License-Identifier: MIT */
/*
 * What a run says of the job that it is.
 */
#ifndef MODEL_JOB_RUN_H
#define MODEL_JOB_RUN_H

#include "model/record/job/job.h"

struct run;

/*
 * A run shares its cgroup with the one who watches it: memory is what its processes had together at
 * a sample, or what the largest of them had at most if that is more.
 */
void job_figures_of_run(const struct run *run, struct job_figures *ret,
			enum job_memory *ret_memory);

/* Why a run did not measure all of what it should have; NULL: it did. */
const char *job_run_lacks(const struct job_figures *figures);

/*
 * The calls that took the longest, `most` at most.  Names are the run's.  Returns how many there are;
 * 0 also when memory runs out.
 */
size_t job_syscalls_of_run(const struct run *run, struct job_syscall *ret, size_t most);

#endif
