/* SPDX-License-Identifier: MIT */
/*
 * Jobs as rows of a table, and as JSON (docs/json.md has the keys).
 */
#ifndef RENDER_JOB_VIEW_H
#define RENDER_JOB_VIEW_H

#include <stdint.h>

#include "model/record/job/job.h"

struct json;
struct table;

/* A job and what is known besides its row. */
struct job_row {
	const struct job *job;
	uint64_t duration_ns; /* so far, while it runs; 0: not known */
	const char *step;     /* the one that runs; NULL: none */
};

void job_columns(struct table *table);
void put_job(struct table *table, const struct job_row *row);

/* One object.  `shows_texts`: with what its owner said and ran, such as the command line. */
void job_json(struct json *json, const struct job_row *row, bool shows_texts);
void job_step_json(struct json *json, const struct job_step *step);

#endif
