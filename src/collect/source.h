/* SPDX-License-Identifier: MIT */
/*
 * What the tallies of a capture say at its end.
 */
#ifndef COLLECT_SOURCE_H
#define COLLECT_SOURCE_H

#include "collect/capture.h"

struct capture;
struct text;

#define NOT_ASKED_SMAPS "not asked for: --smaps reads it"

/* The source that has the values of a place. */
enum source_id source_of(enum metric_place place);

/* Whether it asks a running kernel or a living process, which a recording is not. */
bool source_needs_life(enum source_id id);

/* Whether it is read only when it is asked for, and was not. */
bool source_is_unasked(const struct capture *capture, enum source_id id);

/* Tasks that the iterator told all of, so that this source's files of them were not read. */
uint64_t source_iterated(const struct capture *capture, enum source_id id);

/*
 * What kept the source from values: the failure, how often, and what would help.
 * Where the iterator told `others`, that is said too.
 */
void source_failure_text(const struct capture *capture, enum source_id id, uint64_t others,
			 struct text *out);

/* Fills the snapshot's reports: how each source did, and why if it did not.  0 or -ENOMEM. */
int source_reports(struct capture *capture);

/* Gives every metric with missing cells a reason, unless it has one.  0 or -ENOMEM. */
int source_absent_reasons(struct capture *capture);

#endif
