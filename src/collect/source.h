/* SPDX-License-Identifier: MIT */
/*
 * What the tallies of a capture say at its end.
 */
#ifndef COLLECT_SOURCE_H
#define COLLECT_SOURCE_H

#include "collect/capture.h"

struct capture;
struct text;

/* What kept the source from values: the failure, how often, and what would help. */
void source_failure_text(const struct capture *capture, enum source_id id, struct text *out);

/* Fills the snapshot's reports: how each source did, and why if it did not.  0 or -ENOMEM. */
int source_reports(struct capture *capture);

/* Gives every metric with missing cells a reason, unless it has one.  0 or -ENOMEM. */
int source_absent_reasons(struct capture *capture);

#endif
