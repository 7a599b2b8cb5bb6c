/* SPDX-License-Identifier: MIT */
/*
 * Jobs of a recording, read for comparing how they ended (analyze/outcome).  All zeros is empty and valid.
 */
#ifndef RECORD_PAST_JOBS_H
#define RECORD_PAST_JOBS_H

#include "analyze/outcome/correlation.h"
#include "base/collection/array.h"

struct dictionary;
struct error;
struct history;
struct job_query;

struct past_jobs {
	ARRAY_OF(struct outcome_job) jobs; /* the newest first */
	ARRAY_OF(uint64_t) ids;
	struct dictionary *texts;
};

/* Adds what the query finds, which is older than what is there.  0, or a negative errno with a sentence. */
int past_jobs_read(struct history *history, const struct job_query *query, struct past_jobs *past,
		   struct error *error);
/*
 * The same of a recorder: of the one at the socket, or with NULL of root's if that takes the caller's marks.
 * Plain users get their own jobs, root gets all.  -ENOENT without a sentence: there is no such recorder.
 */
int past_jobs_ask(const char *socket, const struct job_query *query, struct past_jobs *past,
		  struct error *error);
void past_jobs_clear(struct past_jobs *past);

#endif
