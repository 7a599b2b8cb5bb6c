/* SPDX-License-Identifier: MIT */
/*
 * The report of one job.  Text is for people, and for programs that read text: every section is
 * always there, and says so when there is nothing, and why when nothing was measured.
 */
#ifndef RENDER_JOB_REPORT_VIEW_H
#define RENDER_JOB_REPORT_VIEW_H

#include <stddef.h>
#include <stdio.h>

struct job_report;
struct json;
struct terminal;

/* `limit` is of the rows of each section, 0: all.  0, or -ENOMEM. */
int job_report_text(FILE *out, const struct terminal *terminal, const struct job_report *report,
		    size_t limit);
void job_report_json(struct json *json, const struct job_report *report);

#endif
