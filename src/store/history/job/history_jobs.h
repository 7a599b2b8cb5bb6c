/* SPDX-License-Identifier: MIT */
/*
 * Jobs of a recording (model/record/job/job.h): the tables jobs, job_steps, job_events,
 * job_syscalls, job_runs and patterns.  They are outcomes: they are kept longest.
 *
 * The writer is the recorder, or for a moment whoever marks a job when there is no recorder.
 */
#ifndef STORE_HISTORY_JOBS_H
#define STORE_HISTORY_JOBS_H

#include "model/record/job/job.h"
#include "store/history/history.h"

/*
 * Writing: each adds to the transaction, as those of history.h do.
 *
 * history_put_job() adds a job that has no id, which it gets then, or brings the row up to date;
 * history_put_step() does so by job and name.  A figure that is absent, and
 * details that are NULL, leave what is there.
 */
int history_put_job(struct history *history, struct job *job, struct error *error);
int history_put_step(struct history *history, const struct job_step *step, struct error *error);
int history_add_job_event(struct history *history, const struct job_event *event,
			  struct error *error);
/* Replaces those of the job, or of its step (NULL: of the whole job). */
int history_put_job_syscalls(struct history *history, uint64_t job, const char *step,
			     const struct job_syscall *syscalls, size_t count, struct error *error);
/*
 * Keeps a whole run, as a .tscope file.  All of them together have a fifth of the file: the oldest
 * go first.
 */
int history_put_job_run(struct history *history, uint64_t job, const char *step, const void *bytes,
			size_t size, struct error *error);
int history_put_pattern(struct history *history, const struct pattern *pattern,
			struct error *error);
/* What limited the job, or its step (NULL: the whole job). */
int history_put_job_details(struct history *history, uint64_t job, const char *step,
			    const char *details, struct error *error);
/* The process, which a tick has seen, belongs to that job and step (NULL: none). */
int history_put_process_job(struct history *history, const char *boot_id,
			    const struct task_key *process, uint64_t job, const char *step,
			    struct error *error);
/* Running jobs and their steps that `lives` does not know get the outcome JOB_UNKNOWN. */
typedef bool job_lives(void *context, const struct job *job);
int history_close_lost_jobs(struct history *history, job_lives *lives, void *context,
			    struct error *error);

/*
 * Reading.  Sinks get structs whose texts are valid during the call.  Newest first; each returns 0,
 * what the sink returned, or an error.
 */
struct job_query {
	struct history_span span; /* jobs that ran in it */
	uint64_t id;		  /* 0: any */
	const char *name;	  /* NULL: any */
	bool has_uid;
	uint32_t uid;
	bool running_only, ended_only;
	uint64_t below_id; /* only older ones, for reading page by page; 0: all */
	size_t limit;	   /* 0: all */
};

typedef int job_sink(void *context, const struct job *job);
typedef int job_step_sink(void *context, const struct job_step *step);
typedef int job_event_sink(void *context, const struct job_event *event);
typedef int job_syscall_sink(void *context, const struct job_syscall *syscall);
typedef int pattern_sink(void *context, const struct pattern *pattern);

int history_jobs(struct history *history, const struct job_query *query, job_sink *sink,
		 void *context, struct error *error);
/* The oldest first. */
int history_job_steps(struct history *history, uint64_t job, job_step_sink *sink, void *context,
		      struct error *error);
int history_job_events(struct history *history, uint64_t job, size_t limit, job_event_sink *sink,
		       void *context, struct error *error);
/* Its processes of that boot which ticks have seen. */
typedef int job_process_sink(void *context, const struct task_key *process, const char *step);
int history_job_processes(struct history *history, uint64_t job, const char *boot_id,
			  job_process_sink *sink, void *context, struct error *error);
/* The most time first; step NULL: of the whole job. */
int history_job_syscalls(struct history *history, uint64_t job, const char *step, size_t limit,
			 job_syscall_sink *sink, void *context, struct error *error);
/* The system call with the most time of each job that has any, between these two jobs; the newest first. */
struct job_hotspot {
	uint64_t job;
	const char *name;
	uint64_t time_ns;
	double all_ns; /* of all its system calls */
};

typedef int job_hotspot_sink(void *context, const struct job_hotspot *hotspot);
int history_job_hotspots(struct history *history, uint64_t from_job, uint64_t to_job,
			 job_hotspot_sink *sink, void *context, struct error *error);
/* -ENODATA when none was kept.  *ret is to be freed; with a `ret` of NULL only its size is read. */
int history_job_run(struct history *history, uint64_t job, const char *step, void **ret,
		    size_t *ret_size, struct error *error);
int history_patterns(struct history *history, const struct history_span *span, size_t limit,
		     pattern_sink *sink, void *context, struct error *error);

#endif
