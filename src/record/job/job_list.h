/* SPDX-License-Identifier: MIT */
/*
 * Lists of jobs, from a store or by asking a recorder, as rows that can be shown.
 */
#ifndef RECORD_JOB_LIST_H
#define RECORD_JOB_LIST_H

#include "model/record/job/job_report.h"
#include "render/record/job_view.h"
#include "store/history/job/history_jobs.h"

struct job_place;
struct job_scene;

/* How many a recorder gives at most. */
#define JOB_LIST_MOST 10000

typedef int job_row_sink(void *context, const struct job_row *row);

/*
 * Those of a store that the query wants.  One that cannot run any more is unknown, whatever the store
 * says.  0, what the sink returned, or an error.
 */
int job_list(struct history *history, const struct job_scene *scene, const struct job_query *query,
	     job_row_sink *sink, void *context, struct error *error);

/* Those that a recorder answered with, as JSON. */
int job_list_read(const char *document, size_t length, job_row_sink *sink, void *context,
		  struct error *error);

/* The report that a recorder answered with, as JSON.  *ret is to be cleared in all cases. */
int job_report_read(const char *document, size_t length, struct job_report *ret,
		    struct error *error);

#endif
