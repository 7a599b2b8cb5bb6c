/* SPDX-License-Identifier: MIT */
/*
 * The jobs of a moment: which there were, how far they are, and which processes are theirs.
 */
#ifndef TUI_MOMENT_JOBS_H
#define TUI_MOMENT_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct history;
struct moment;
struct moment_job;

/*
 * Adds the jobs that ran at that time or in the hour before, of that name only unless it is NULL.
 * What cannot be read is left out.
 */
void moment_add_jobs(struct moment *moment, struct history *history, const char *name,
		     uint64_t at_unix_ns);

/* How much of its way a job has behind it, by its steps; else by the time that it takes mostly. */
struct job_progress {
	bool is_known;
	bool is_by_time;
	uint64_t done, total; /* steps */
	double share;	      /* 0 to 1 */
};

struct job_progress moment_job_progress(const struct moment *moment, const struct moment_job *job);
/* The time that is left; false when it cannot be estimated, or is over already. */
bool moment_job_time_left(const struct moment *moment, const struct moment_job *job,
			  uint64_t *ret_ns);
size_t moment_running_jobs(const struct moment *moment);

/* What the processes of a job or step do in the moment. */
struct job_use {
	uint64_t processes, rss_bytes, run_time_ns;
	bool has_rss, has_run_time;
};

/*
 * To which job each process of the moment belongs: its place in the list plus 1, or 0.  What a
 * process of a job forked since the recorder looked belongs to it, too.  `*ret_steps` has the step of
 * each in the same way.  The caller frees both.  0 or -ENOMEM.
 */
int moment_job_processes(const struct moment *moment, uint32_t **ret_jobs, uint32_t **ret_steps);
/* An array for all jobs, and one for all steps, which the caller frees.  0 or -ENOMEM. */
int moment_job_uses(const struct moment *moment, struct job_use **ret_jobs,
		    struct job_use **ret_steps);

#endif
