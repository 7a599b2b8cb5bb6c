/* SPDX-License-Identifier: MIT */
/*
 * What happened in a run, as events of a job: signals, OOM kills, and exits with a failure, each
 * with what the tree used at the sample before.  They are for a store that no recorder writes; a
 * recorder notes its own.
 */
#ifndef RECORD_JOB_RUN_EVENTS_H
#define RECORD_JOB_RUN_EVENTS_H

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "model/record/job/job.h"

struct run;

/* All zeros is empty and valid. */
struct job_run_events {
	ARRAY_OF(struct job_event) list; /* the oldest first; job and step are not set */
	struct arena texts;
};

/* 0 or -ENOMEM; to be cleared in both cases. */
int job_run_events_make(const struct run *run, struct job_run_events *ret);
void job_run_events_clear(struct job_run_events *events);

#endif
