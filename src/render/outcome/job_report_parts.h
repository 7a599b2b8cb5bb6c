/* SPDX-License-Identifier: MIT */
/* What the files of the report of a job share. */
#ifndef RENDER_JOB_REPORT_PARTS_H
#define RENDER_JOB_REPORT_PARTS_H

#include <stddef.h>
#include <stdio.h>

struct job_report;
struct terminal;

/* The sections below the figures: steps, system calls, events.  0, or -ENOMEM. */
int job_report_tables(FILE *out, const struct terminal *terminal, const struct job_report *report,
		      size_t limit);

#endif
