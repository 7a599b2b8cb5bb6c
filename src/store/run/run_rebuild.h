/* SPDX-License-Identifier: MIT */
/*
 * Puts a run together from its lines when there is no summary: the sums of the
 * processes that ended, the last sample, the processes that were alive when the
 * tree was last listed.
 */
#ifndef STORE_RUN_REBUILD_H
#define STORE_RUN_REBUILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree/run.h"

struct run_rebuild {
	/* From the processes that ended. */
	uint64_t exits;
	uint64_t threads, execs, signalled, failed, oom_kills;
	struct amounts amounts;
	struct syscall_table syscalls;
	uint64_t unnamed_syscalls;
	uint64_t largest_rss_bytes;
	/* From the events: of each kind, and processes that were found. */
	uint64_t events, forks, found, exec_events, oom_events;
	/* From the samples; the most at one time is 0 when no sample has it. */
	uint64_t processes_seen, threads_seen;
	uint64_t most_processes, most_threads;
	uint64_t unseen_cpu_ns;
	json_t *live;	 /* the last list of processes, or NULL */
	uint64_t listed; /* how many of them have no exit line */
	uint64_t latest_ns;
};

int run_rebuild_exit(struct run_rebuild *rebuild, const json_t *object, struct run *run);
int run_rebuild_event(struct run_rebuild *rebuild, const json_t *object);
int run_rebuild_sample(struct run_rebuild *rebuild, const json_t *object, struct run *run);
/* Takes a reference. */
int run_rebuild_tree(struct run_rebuild *rebuild, json_t *object, struct run *run);

/* The lines ended without a summary: moves everything into the run. */
int run_rebuild_finish(struct run_rebuild *rebuild, struct run *run);
void run_rebuild_free(struct run_rebuild *rebuild);

#endif
