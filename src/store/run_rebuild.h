/* SPDX-License-Identifier: MIT */
/*
 * What the lines of a run say together as long as there is no summary: the sums of the processes
 * that ended, the last sample, the processes that were alive when the tree was last listed.
 */
#ifndef STORE_RUN_REBUILD_H
#define STORE_RUN_REBUILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/run.h"

struct run_rebuild {
	/* Of the processes that ended. */
	uint64_t exits;
	uint64_t threads, execs, signalled, failed, oom_kills, folded;
	struct usage usage;
	struct ledger ledger;
	struct syscall_table syscalls;
	uint64_t unnamed_syscalls;
	uint64_t largest_rss_bytes;
	struct tree_process
		*weakest; /* the kept one with the least CPU time, when there is no room */
	/* Threads of those with several; TREE_KEPT at most. */
	struct tree_thread *ended;
	size_t ended_count, ended_capacity, weakest_thread;
	uint64_t weights[TREE_KEPT]; /* of these threads, by which they are kept */
	/* Of the events: of each kind, and processes that were found. */
	uint64_t events, forks, found, exec_events, oom_events;
	/* Of the samples; the most at one time is 0 when no sample tells. */
	uint64_t processes_seen, threads_seen;
	uint64_t most_processes, most_threads;
	uint64_t unseen_cpu_ns;
	json_t *live;	 /* the last list of processes, or NULL */
	uint64_t listed; /* of them, those that no exit line is about */
	uint64_t latest_ns;
};

int run_rebuild_exit(struct run_rebuild *rebuild, const json_t *object, struct run *run);
int run_rebuild_event(struct run_rebuild *rebuild, const json_t *object);
int run_rebuild_sample(struct run_rebuild *rebuild, const json_t *object, struct run *run);
/* Takes a reference. */
int run_rebuild_tree(struct run_rebuild *rebuild, json_t *object, struct run *run);

/* The lines ended without a summary: brings all that into the run. */
int run_rebuild_finish(struct run_rebuild *rebuild, struct run *run);
void run_rebuild_free(struct run_rebuild *rebuild);

#endif
