/* SPDX-License-Identifier: MIT */
/*
 * Marks in a store: which job a mark means, what comes with its end, and what a mark does where no
 * recorder measures.
 */
#ifndef RECORD_JOB_STORE_H
#define RECORD_JOB_STORE_H

#include "record/job/mark/job_mark.h"
#include "store/history/job/history_jobs.h"

struct job_scene;

/*
 * Gives the running job that the mark means to the sink, and returns what that returned; 0 when there
 * is none.  A job of another user is -EPERM, and one that has ended -EALREADY, with a sentence.
 */
int job_store_find(struct history *history, const struct job_mark *mark, job_sink *sink,
		   void *context, struct error *error);

/* Keeps the calls and the whole run that were measured, of a job or one of its steps. */
int job_store_measured(struct history *history, uint64_t job, const char *step,
		       const struct job_measured *measured, struct error *error);

/* Does what the mark says, and commits.  0, or a negative errno with a sentence. */
int job_store_take(struct history *history, const struct job_scene *scene, struct job_mark *mark,
		   struct job_marked *ret, struct error *error);

#endif
