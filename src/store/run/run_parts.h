/* SPDX-License-Identifier: MIT */
/*
 * Reads parts of the JSON lines of a run back into the model.
 */
#ifndef STORE_RUN_PARTS_H
#define STORE_RUN_PARTS_H

#include <jansson.h>

#include "model/tree/run.h"
#include "model/tree/run_fields.h"

/* Reads the amounts that the object has under the ids of their metrics. */
void run_read_amounts(const json_t *object, struct amounts *ret);

/* Adds the rows of an array; rows beyond what any kernel has are counted in *ret_unnamed. */
int run_read_syscalls(const json_t *object, struct syscall_table *table, uint64_t *ret_unnamed);
/* Reads the object of a summary. */
int run_read_syscall_summary(const json_t *object, struct tree *tree);

/* A status as wait() returns it; false when there is none. */
bool run_read_status(const json_t *object, int *ret);

/* Fill in a struct that is all zeros; 0 or -ENOMEM.  Times count from the start of the run. */
int run_read_process(const json_t *object, const struct run *run, struct tree_process *ret);
int run_read_thread(const json_t *object, const struct run *run, struct tree_thread *ret);

/* Reads the phases of a summary; nothing when it has none.  0 or -ENOMEM. */
int run_read_phases(const json_t *list, struct phases *ret);

void run_read_fields(const json_t *object, struct run *run, enum run_section section);
/* Reads command, tracer and manifest. */
int run_read_about(const json_t *object, struct run *run);
/* Reads how the run ended; false when the summary does not say it, or in unknown words. */
bool run_read_end(const json_t *object, struct run *run);
/*
 * Reads the rest of the summary: sums, threads, waits; with `processes` also
 * the processes that it names.
 */
int run_read_summary(const json_t *object, struct run *run, bool processes);

#endif
