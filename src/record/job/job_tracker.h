/* SPDX-License-Identifier: MIT */
/*
 * This room has the jobs that run while a host is recorded (model/record/job/job.h): which processes
 * belong to them and to their steps, what these use, and what happens to them.
 *
 *	job_tracker.c	marks: a job or step begins or ends
 *	job_ticks.c	what events and ticks bring, and what the store gets
 *	job_log.c	events of jobs, with what surrounded them
 *	job_gaps.c	what figures of a job lack, in words
 *	job_resume.c	jobs that an earlier recorder followed
 *	book		who belongs to what, and sums; readings, calls and files for these
 *
 * A process belongs to one job, and to the step that ran when it began: that of its parent, unless a
 * job or step begins with the process itself.  Where jobs contain each other, the newest one wins.
 * A job ends by a mark, or soon after its first process.  Rows of the store are up to date as of the
 * last tick, so that they survive the recorder.
 *
 * Used from one thread.
 */
#ifndef RECORD_JOB_TRACKER_H
#define RECORD_JOB_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/job/job.h"

struct anomaly;
struct error;
struct host_sample;
struct job_tracker;
struct json;
struct life_event;
struct recorder;

/* More than so many at once are refused; and of a user who is neither root nor the one who records. */
#define JOBS_MOST 256
#define JOBS_OF_USER 32
#define JOBS_KEPT 16 /* for these two */
/* Steps of the running jobs of one user. */
#define JOB_STEPS_OF_USER 4096
/* Longer names are refused. */
#define JOB_NAME_SIZE 64

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

/* How a job or step ended.  What was measured elsewhere replaces what the recorder measured. */
struct job_result {
	enum job_outcome outcome;
	bool has_status;
	int status;			   /* of the first process, as wait() has it */
	const struct job_figures *figures; /* NULL: nothing was */
	enum job_memory memory;		   /* of figures */
	uint64_t duration_ns;		   /* the same; 0: it is the time between the marks */
	const char *absent;		   /* of figures; NULL: nothing is */
};

/* Ends one step alone; the job goes on. */
int job_tracker_end_step(struct job_tracker *tracker, uint64_t job, const char *step,
			 const struct job_result *result, struct error *error);
/* Ends a job, and its steps with the same outcome. */
int job_tracker_end(struct job_tracker *tracker, uint64_t job, const struct job_result *result,
		    struct error *error);
/* Before a mark: the process that only marks, of that number, is no part of the job. */
void job_tracker_exclude(struct job_tracker *tracker, int32_t pid);
/* Before and after a mark: the process is a taskscope that runs the command, and does not count. */
void job_tracker_note_watcher(struct job_tracker *tracker, int32_t pid);

/* How many jobs, and steps of them, run.  A NULL tracker has none. */
size_t job_tracker_count(const struct job_tracker *tracker);
size_t job_tracker_active_steps(const struct job_tracker *tracker);

/*
 * For the recorder.  Each event of the host, before it is counted or kept; a tick, after its events
 * and before it is judged (sets the figures of the sample, and *ret_jobs to JSON that is to be
 * freed, or NULL); what the tick changed, after it was added to the store.
 */
int job_tracker_take_event(struct job_tracker *tracker, const struct life_event *event);
void job_tracker_take_tick(struct job_tracker *tracker, struct host_sample *sample,
			   char **ret_jobs);
int job_tracker_keep(struct job_tracker *tracker, struct error *error);
/* Fills in the job of an anomaly; one that opens becomes an event and a pattern of its job. */
void job_tracker_take_anomaly(struct job_tracker *tracker, bool opens, struct anomaly *anomaly);
void job_tracker_name_anomaly(const struct job_tracker *tracker, struct anomaly *anomaly);
/* Processes whose last system calls are in no job's table.  A NULL tracker has none. */
uint64_t job_tracker_lost_calls(const struct job_tracker *tracker);
/* The recorder ends; its jobs go on without it. */
void job_tracker_finish(struct job_tracker *tracker);

#endif
