/* SPDX-License-Identifier: MIT */
/*
 * Parts of the JSON lines of a run back into the model.
 */
#ifndef STORE_RUN_PARTS_H
#define STORE_RUN_PARTS_H

#include <jansson.h>

#include "model/run.h"
#include "model/run_fields.h"

void run_read_usage(const json_t *object, struct usage *ret);
/* The keys of a ledger in an object; nothing when it has none of them. */
void run_read_ledger(const json_t *object, struct ledger *ret);

/* Adds the rows of an array; those beyond what any kernel has are counted in *ret_unnamed. */
int run_read_syscalls(const json_t *rows, struct syscall_table *table, uint64_t *ret_unnamed);
/* The object of a summary. */
int run_read_syscall_summary(const json_t *object, struct tree *tree);

/* A status as wait() has it; false when there is none. */
bool run_read_status(const json_t *object, int *ret);

/* Fill in what is all zeros; 0 or -ENOMEM.  Times are from the start of the run on. */
int run_read_process(const json_t *object, const struct run *run, struct tree_process *ret);
int run_read_thread(const json_t *object, const struct run *run, struct tree_thread *ret);

/* The phases of a summary; nothing when it has none.  0 or -ENOMEM. */
int run_read_phases(const json_t *list, struct phases *ret);

void run_read_fields(const json_t *object, struct run *run, enum run_section section);
/* Command, tracer, manifest. */
int run_read_about(const json_t *object, struct run *run);
/* How it ended; false when the summary does not tell, or nothing that is known. */
bool run_read_end(const json_t *object, struct run *run);
/* The whole summary, but for that: sums, threads, waits; `processes` also the processes that it names. */
int run_read_summary(const json_t *object, struct run *run, bool processes);

#endif
