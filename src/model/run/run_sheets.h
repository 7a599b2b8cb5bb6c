/* SPDX-License-Identifier: MIT */
/*
 * Turns what a run knows beyond its tasks into facts, sources and sheets of its snapshot.  Private
 * to src/model/run.
 */
#ifndef MODEL_RUN_SHEETS_H
#define MODEL_RUN_SHEETS_H

#include <stdbool.h>

struct run;
struct snapshot;

/* Whether a fact (enum fact_id) is of one capture or run, and not of its host. */
bool fact_is_of_recording(int id);

/* Copies facts and readings of the host, but none about the capture.  0 or -ENOMEM. */
int run_copy_host(struct snapshot *snapshot, const struct snapshot *host);

/* Adds the run itself, its host, and its past: waits, phases, events, samples.  0 or -ENOMEM. */
int run_add_sheets(struct snapshot *snapshot, const struct run *run);

/* The opposite for events and samples, as many as a run keeps.  0 or -ENOMEM. */
int run_restore_past(const struct snapshot *snapshot, struct run *run);

/*
 * Adds what refers to rows, and the reasons for absent cells.  Call it when rows no longer move.  0
 * or -ENOMEM.
 */
int run_add_references(struct snapshot *snapshot, const struct run *run);

#endif
