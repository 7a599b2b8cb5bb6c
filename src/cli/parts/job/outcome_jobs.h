/* SPDX-License-Identifier: MIT */
/*
 * The jobs that correlate and estimate are about: those of the caller that root's recorder has,
 * where it takes the caller's marks, else those of a store.
 */
#ifndef CLI_OUTCOME_JOBS_H
#define CLI_OUTCOME_JOBS_H

#include <stdint.h>

struct error;
struct job_query;
struct past_jobs;
struct store_args;

/*
 * Sets the query's span: as `since` says, or the last `age_ns` (0: all).  0, or a negative errno
 * with a sentence.
 */
int outcome_jobs_read(const struct store_args *store, const char *socket, uint64_t age_ns,
		      struct job_query *query, struct past_jobs *ret, struct error *error);

#endif
