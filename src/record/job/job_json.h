/* SPDX-License-Identifier: MIT */
/* Parts of a recorder's answers about jobs.  Private to the files of src/record/job that read them. */
#ifndef RECORD_JOB_JSON_H
#define RECORD_JOB_JSON_H

#include <jansson.h>

#include "record/job/job_list.h"

/* 0, or NULL, when it is missing or of another type. */
uint64_t job_json_number(const json_t *object, const char *key);
const char *job_json_text(const json_t *object, const char *key);
enum job_outcome job_json_outcome(const json_t *object);
void job_json_figures(const json_t *object, struct job_figures *figures, enum job_memory *memory);
/* The job that the object is; its texts are the object's. */
int job_json_give(const json_t *object, job_row_sink *sink, void *context);

#endif
