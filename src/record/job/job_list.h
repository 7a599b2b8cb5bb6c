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

/* How many a recorder gives in one answer, which it builds between two turns of its loop. */
#define JOB_LIST_MOST 500

typedef int job_row_sink(void *context, const struct job_row *row);

/*
 * Those of a store that the query wants.  One that cannot run any more is unknown, whatever the store
 * says.  0, what the sink returned, or an error.
 */
int job_list(struct history *history, const struct job_scene *scene, const struct job_query *query,
	     job_row_sink *sink, void *context, struct error *error);

/*
 * Whoever takes the jobs of an answer, and then the calls with the most time of those that are
 * the caller's.
 */
struct job_list_sinks {
	job_row_sink *job;
	job_hotspot_sink *hotspot; /* NULL: nobody wants them */
	void *context;
};

/* job_place_ask() or job_place_ask_root(). */
typedef int job_asker(const char *socket, const char *method, const char *parameters, char **ret,
		      struct error *error);

/*
 * Those of a recorder that the query wants, of the caller alone if it has a user, asked for page
 * by page.  0, what a sink returned, or an error.
 */
int job_list_ask(job_asker *ask, const char *socket, const struct job_query *query,
		 const struct job_list_sinks *sinks, struct error *error);

/* What one answer had. */
struct job_list_page {
	size_t count;
	uint64_t last_id; /* the lowest */
};

int job_list_read(const char *document, size_t length, const struct job_list_sinks *sinks,
		  struct job_list_page *ret, struct error *error);

/* The run of a job that a recorder answered with, as a .tscope file, to be freed. */
int job_run_read(const char *document, size_t length, void **ret, size_t *ret_size,
		 struct error *error);

/* The report that a recorder answered with, as JSON.  *ret is to be cleared in all cases. */
int job_report_read(const char *document, size_t length, struct job_report *ret,
		    struct error *error);

#endif
