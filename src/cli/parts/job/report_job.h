/* SPDX-License-Identifier: MIT */
/*
 * What `report` reads of a job: its rows in the recording, and the run that was kept of it.
 */
#ifndef CLI_REPORT_JOB_H
#define CLI_REPORT_JOB_H

#include <stdbool.h>

#include "model/record/job/job_report.h"

struct error;
struct history;
struct run;
struct store_args;

/* Whether a word is the name of a file: it has a slash, or an ending of those that are read, or is "-". */
bool report_word_is_file(const char *word, const char *endings);

/*
 * The job that the word means: #N, a name, or NULL for the newest; with `step`, of that step.  The
 * recording stays open in *ret_history, unless root's recorder answered for it (NULL).  0, or a
 * negative errno with a sentence; *ret is to be cleared in all cases.
 */
int report_job_read(const struct store_args *store, const char *socket, const char *word,
		    const char *step, struct history **ret_history, struct job_report *ret,
		    struct error *error);

/*
 * The run that was kept of it, which the caller frees: from the recording, or where that is NULL from the
 * recorder.  -ENODATA with a sentence when none was.
 */
int report_job_run(struct history *history, const char *socket, const struct job_report *report,
		   struct run **ret, struct error *error);

#endif
