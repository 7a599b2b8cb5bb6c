/* SPDX-License-Identifier: MIT */
/*
 * Turns the tallies of a capture, once it is complete, into reports about each source and reasons
 * for missing values.
 */
#ifndef COLLECT_SOURCE_H
#define COLLECT_SOURCE_H

#include "collect/capture.h"

struct capture;
struct text;

/* The source that reads a place. */
enum source_id source_of(enum metric_place place);

/* Whether it needs a running kernel or a living process, and so cannot work on a recording. */
bool source_needs_life(enum source_id id);

/* That it is an optional source (such as smaps) which this capture did not ask for, in words; else NULL. */
const char *source_unasked(const struct capture *capture, enum source_id id);

/* The number of tasks whose files of this source were not read, since the iterator reported all. */
uint64_t source_iterated(const struct capture *capture, enum source_id id);

/*
 * Writes why the source lacks values: the failure, how often it happened, and what would help.
 * Also says for how many tasks (`others`) the iterator reported the values instead.
 */
void source_failure_text(const struct capture *capture, enum source_id id, uint64_t others,
			 struct text *out);

/* Fills the snapshot's reports: how each source did, and why it failed if so.  0 or -ENOMEM. */
int source_reports(struct capture *capture);

/* Gives a reason to every metric that has missing cells and no reason yet.  0 or -ENOMEM. */
int source_absent_reasons(struct capture *capture);

#endif
