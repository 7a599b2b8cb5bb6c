/* SPDX-License-Identifier: MIT */
/*
 * Reads parts of the JSON lines of a run back into the model.
 */
#ifndef STORE_RUN_PARTS_H
#define STORE_RUN_PARTS_H

#include <jansson.h>

#include "model/tree/run.h"
#include "model/tree/run_fields.h"

struct sheet;
struct snapshot;

/* Reads a number that older files may have under another key. */
bool run_read_count(const json_t *object, const char *key, uint64_t *ret);
/* Reads the amounts that the object has under the ids of their metrics. */
void run_read_amounts(const json_t *object, struct amounts *ret);

/* Adds the rows of an array; rows beyond what any kernel has are counted in *ret_unnamed. */
int run_read_syscalls(const json_t *object, struct syscall_table *table, uint64_t *ret_unnamed);
/* Reads the object of a summary. */
int run_read_syscall_summary(const json_t *object, struct tree *tree);

/* A status as wait() returns it; false when there is none. */
bool run_read_status(const json_t *object, int *ret);

/* Reads a sheet of readings; what is not one is left out.  0 or -ENOMEM. */
int run_read_sheet(const json_t *object, struct snapshot *snapshot, struct sheet *sheet);
/* Reads the sheets of host and cgroups at the begin and the end.  0 or -ENOMEM. */
int run_read_states(const json_t *line, struct run *run);

/* Reads the phases of a summary; nothing when it has none.  0 or -ENOMEM. */
int run_read_phases(const json_t *list, struct phases *ret);
/* The same for the critical path. */
int run_read_path(const json_t *object, struct critical_path *ret);

/* Reads settings and losses of the profile, whose stacks are in lines of their own. */
int run_read_profile(const json_t *object, struct run *run);

void run_read_fields(const json_t *object, struct run *run, enum run_section section);
/*
 * Reads command, tracer, manifest, beginning and end of the summary.  Times of lines before it move
 * with the beginning.
 */
int run_read_start(const json_t *object, struct run *run);
/* Reads command, tracer and manifest. */
int run_read_about(const json_t *object, struct run *run);
/* Reads how the run ended; false when the summary does not say it, or in unknown words. */
bool run_read_end(const json_t *object, struct run *run);
/*
 * Reads the sums of the summary, its waits and phases.  Call it after its members were replayed:
 * what the summary says counts.
 */
int run_read_summary(const json_t *object, struct run *run);

#endif
