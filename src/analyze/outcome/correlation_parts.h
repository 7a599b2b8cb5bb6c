/* SPDX-License-Identifier: MIT */
/* What the files of correlate() share. */
#ifndef ANALYZE_CORRELATION_PARTS_H
#define ANALYZE_CORRELATION_PARTS_H

#include "analyze/outcome/correlation.h"

#define FACTOR_QUARTERS 4

struct dictionary;

/* The jobs that are compared. */
struct compared_jobs {
	struct compared_job {
		const struct outcome_job *job;
		uint32_t name; /* in `names` */
		bool failed;
	} * list;
	size_t count;
	struct dictionary *names;
};

static inline bool outcome_job_has(const struct outcome_job *job, enum factor factor)
{
	return job->present >> factor & 1;
}

/* Adds the groups of all factors, with their bounds and tables; empty ones are left out. */
int correlation_make_groups(const struct compared_jobs *jobs, struct correlation *correlation);
/* Adds the jobs that have the factor to the table; with `by_name`, to that of their name. */
void outcome_group_count(const struct compared_jobs *jobs, const struct outcome_group *group,
			 struct outcome_table *tables, bool by_name);

#endif
