/* SPDX-License-Identifier: MIT */
/*
 * All that a recording has about one job, or about one of its steps.
 */
#ifndef MODEL_JOB_REPORT_H
#define MODEL_JOB_REPORT_H

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "model/record/job/job.h"

struct job_report {
	struct arena arena; /* has all texts */
	struct job job;
	uint64_t duration_ns; /* so far, while it runs; 0: not known */
	/* Set when one step is asked for: calls and events are then those of that step. */
	const char *step;
	size_t step_place;
	ARRAY_OF(struct job_step) steps;
	ARRAY_OF(struct job_event) events; /* the oldest first */
	ARRAY_OF(struct job_syscall) syscalls;
	bool has_run; /* the whole run was kept, as a .tscope file */
};

/* The figures that the report is about. */
static inline const struct job_figures *job_report_figures(const struct job_report *report)
{
	return report->step ? &report->steps.data[report->step_place].figures :
			      &report->job.figures;
}

#endif
