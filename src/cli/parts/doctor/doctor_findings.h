/* SPDX-License-Identifier: MIT */
/* What `doctor` finds out: it takes captures, and tries every way of following processes. */
#ifndef CLI_DOCTOR_FINDINGS_H
#define CLI_DOCTOR_FINDINGS_H

#include <stdbool.h>

#include "cli/parts/doctor/doctor_attempts.h"
#include "collect/gate.h"
#include "metric/metric.h"

struct host;
struct snapshot;

/* By the best way of listing tasks, by procfs, about memory in detail. */
struct findings {
	struct host *host;
	struct snapshot *best;
	struct snapshot *procfs; /* or NULL */
	struct snapshot *memory; /* or NULL */
	struct gate gates[GATE_COUNT];
	struct doctor_attempts attempts;
};

/* Examines this host, or a recorded tree.  0, or a negative errno with a sentence; free it in either case. */
int findings_make(struct findings *findings, const char *root, struct error *error);
void findings_free(struct findings *findings);

/* How a source of the capture did; one that it left out was tried separately. */
const struct source_report *findings_source(const struct findings *findings, size_t i);
/* What would make it work, or NULL: a source that a recording cannot have needs nothing. */
const char *findings_needs(const struct findings *findings, const struct source_report *report);

#endif
