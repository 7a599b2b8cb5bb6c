/* SPDX-License-Identifier: MIT */
/*
 * This room has the jobs that run while a host is recorded (model/record/job/job.h): which processes
 * belong to them and to their steps, what these use, and what happens to them.
 *
 * A process belongs to one job, and to the step that ran when it began: that of its parent, unless a
 * job or step begins with the process itself.  Where jobs contain each other, the newest one wins.
 * Rows of the store are up to date as of the last tick, so that they survive the recorder.
 *
 * Used from one thread.
 */
#ifndef RECORD_JOB_TRACKER_H
#define RECORD_JOB_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/job/job.h"

struct error;
struct job_tracker;
struct life_event;
struct recorder;
struct snapshot;

/* More than so many at once are refused. */
#define JOBS_MOST 256
#define JOBS_OF_USER 64
#define JOB_STEPS_MOST 10000

/* Takes up the jobs of an earlier recorder of this boot whose first process lives. */
int job_tracker_open(struct recorder *recorder, struct job_tracker **ret, struct error *error);
void job_tracker_close(struct job_tracker *tracker); /* NULL is allowed */

/*
 * Marks.  Each writes to the store at once.
 *
 * begin: `job` has all that is known of it (name, root or cgroup, cmd, watched, uid, steps; a begin
 * of 0 is now) and gets its id.  `takes_children`: what the root has forked before belongs to it,
 * too.  Who may mark a job is for the caller to check, and that the root and the cgroup exist.
 * 0, -E2BIG when too many jobs run, or another error with a sentence.
 */
int job_tracker_begin(struct job_tracker *tracker, struct job *job, bool takes_children,
		      struct error *error);
/*
 * A step begins.  With a root (not NULL) it is what that process and all that it forks do, beside
 * the other steps, until it is ended; without one it ends the step before it that had none, and is
 * what the job's processes do that begin from now on.  A name that the job had before goes on.
 */
int job_tracker_step(struct job_tracker *tracker, uint64_t job, const char *step,
		     const struct task_key *root, struct error *error);
/* Ends one step alone; the job goes on. */
int job_tracker_end_step(struct job_tracker *tracker, uint64_t job, const char *step,
			 enum job_outcome outcome, struct error *error);
/*
 * Ends a job and its steps.  `status` of the first process, as wait() has it, or NULL.  What was
 * measured elsewhere (NULL: nothing) replaces what the recorder measured.
 */
int job_tracker_end(struct job_tracker *tracker, uint64_t job, enum job_outcome outcome,
		    const int *status, const struct job_figures *measured, struct error *error);

/* The jobs that run, the oldest first; valid until the next mark, event or tick. */
size_t job_tracker_count(const struct job_tracker *tracker);
const struct job *job_tracker_get(const struct job_tracker *tracker, size_t place);
/* The running one of that id, or the newest of that user and name; NULL: none. */
const struct job *job_tracker_find_id(const struct job_tracker *tracker, uint64_t id);
const struct job *job_tracker_find(const struct job_tracker *tracker, const char *name,
				   uint32_t uid);

#endif
