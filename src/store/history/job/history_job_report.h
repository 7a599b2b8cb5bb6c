/* SPDX-License-Identifier: MIT */
/*
 * Reads all that a recording has about one job.
 */
#ifndef STORE_HISTORY_JOB_REPORT_H
#define STORE_HISTORY_JOB_REPORT_H

#include "model/record/job/job_report.h"

struct error;
struct history;
struct job_query;

/*
 * The newest job that the query finds, or one step of it (`step` NULL: all).  -ENOENT with a
 * sentence when there is none.  *ret is to be cleared in all cases.
 */
int history_job_report(struct history *history, const struct job_query *query, const char *step,
		       struct job_report *ret, struct error *error);
/* The run that was kept of it, as a .tscope file, to be freed (`ret` may be NULL); -ENODATA when none was. */
int history_report_run(struct history *history, const struct job_report *report, void **ret,
		       size_t *ret_size, struct error *error);
void job_report_clear(struct job_report *report);

#endif
