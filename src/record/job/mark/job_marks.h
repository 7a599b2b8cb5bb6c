/* SPDX-License-Identifier: MIT */
/*
 * Marks of jobs that come through the recorder's socket, and questions about jobs.
 */
#ifndef RECORD_JOB_MARKS_H
#define RECORD_JOB_MARKS_H

#include <stdio.h>

struct error;
struct server_client;
struct server_request;

/* Methods of the socket (struct server_method); the context is the recorder. */
int job_marks_start(void *recorder, const struct server_client *client,
		    const struct server_request *request, FILE *out, struct error *error);
int job_marks_step(void *recorder, const struct server_client *client,
		   const struct server_request *request, FILE *out, struct error *error);
int job_marks_end(void *recorder, const struct server_client *client,
		  const struct server_request *request, FILE *out, struct error *error);
/*
 * The jobs, newest first: `limit`, `from_ns`, `running`, `name`, `own` (1: those of the client),
 * `below` (only those with a lower number).  Texts of jobs are for their owners.
 */
int job_marks_list(void *recorder, const struct server_client *client,
		   const struct server_request *request, FILE *out, struct error *error);
/* All about one job of the client, or for root of anybody: `id`, or `name`, else the newest; `step`. */
int job_marks_report(void *recorder, const struct server_client *client,
		     const struct server_request *request, FILE *out, struct error *error);
/* The whole run of that job, a .tscope file, in base64. */
int job_marks_run(void *recorder, const struct server_client *client,
		  const struct server_request *request, FILE *out, struct error *error);

#endif
