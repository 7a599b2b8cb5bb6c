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
	bool lacks_calls; /* whoever was asked does not tell the system calls of jobs */
};

/* Adds what the query finds, which is older than what is there.  0, or a negative errno with a sentence. */
int past_jobs_read(struct history *history, const struct job_query *query, struct past_jobs *past,
		   struct error *error);
/*
 * Adds those of the caller, of root those of all, that root's recorder has, if it takes the caller's marks, or the recorder at a
 * socket (NULL: none was named).  They lack what their system
 * calls were.  0, -ENOENT without a sentence when there is none, or another negative errno with one.
 */
int past_jobs_ask(const char *socket, const struct job_query *query, struct past_jobs *past,
		  struct error *error);
void past_jobs_clear(struct past_jobs *past);

#endif
