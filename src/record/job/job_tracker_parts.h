/* SPDX-License-Identifier: MIT */
/* What the files of the tracker share.  Private to src/record/job. */
#ifndef RECORD_JOB_TRACKER_PARTS_H
#define RECORD_JOB_TRACKER_PARTS_H

#include "base/loop.h"
#include "record/job/book/job_book.h"
#include "record/job/book/job_calls.h"
#include "record/job/book/job_reading.h"
#include "record/job/job_tracker.h"
#include "record/job/book/job_watch.h"

/* Jobs of open anomalies: an anomaly may outlive its process, and the job. */
struct named_anomaly {
	uint64_t id;
	char job[JOB_NAME_SIZE];
};

struct job_tracker {
	struct recorder *recorder;
	struct job_reader reader;
	struct job_book book;
	struct job_watches watches;
	struct job_calls calls;
	ARRAY_OF(struct named_anomaly) anomalies;
	uint64_t store_faults;	/* when rows were written last */
	bool has_lost;		/* events since the last tick */
	uint64_t hotspot_at_ns; /* when one was looked for last; CLOCK_MONOTONIC */
};

/* job_log.c: adds an event to the store, as long as the job has not had too many of its kind. */
void job_log(struct job_tracker *tracker, struct book_job *job, const struct job_event *event);
/* What an event of the host means for the job of its process. */
void job_log_life(struct job_tracker *tracker, struct book_job *job, const struct book_step *step,
		  const struct life_event *event);
/* Says how many events were left out. */
void job_log_lost(struct job_tracker *tracker, struct book_job *job);

/* job_gaps.c: a sentence, which the caller frees; NULL: nothing is missing. */
char *job_gaps_words(const struct job_tracker *tracker, const struct book_job *job);
/* Which figures the source of events can count, a bit for each. */
uint32_t job_counted(const struct recorder *recorder);

/* job_ticks.c */
int job_write(struct job_tracker *tracker, struct book_job *job, struct error *error);
/* Reads the files of a job's own cgroup; `found` is how they are. */
void job_take_cgroup(struct book_job *job, const struct job_cgroup *found);
/* Makes processes of the last tick that are in the cgroup part of the job. */
void job_claim_cgroup(struct job_tracker *tracker, struct book_job *job);

/* job_tracker.c: ends it at that time. */
int job_finish(struct job_tracker *tracker, struct book_job *job, const struct job_result *result,
	       const struct job_instant *now, struct error *error);

/* job_resume.c */
int job_resume(struct job_tracker *tracker, struct error *error);

#endif
