/* SPDX-License-Identifier: MIT */
/*
 * Jobs of a recording, read for comparing how they ended (analyze/outcome).
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

/* 0, or a negative errno with a sentence; *ret is to be cleared in both cases. */
int past_jobs_read(struct history *history, const struct job_query *query, struct past_jobs *ret,
		   struct error *error);
void past_jobs_clear(struct past_jobs *past);

/* How far back a recorder looks, and how often. */
#define CORRELATE_SPAN_NS (UINT64_C(7) * 86400 * 1000000000)
#define CORRELATE_EVERY_NS (UINT64_C(1800) * 1000000000)

/*
 * Correlates the jobs of all names that ran in the week before, and adds what was found to the
 * transaction as patterns.  0, or a negative errno with a sentence.
 */
int past_jobs_keep_patterns(struct history *history, uint64_t now_unix_ns, struct error *error);

#endif
