/* SPDX-License-Identifier: MIT */
/*
 * This room makes a run from its lines, whose JSON is parsed already and was written by anyone.
 *
 * It replays them: turns them into the events that the tracer once sent, and the tree takes them as
 * it takes live ones.
 *
 * The lines say less than the tracer did.  A process that ended is one line, so its threads end at
 * once, and live processes are only in the last list of them.  What a file without a summary then
 * lacks, the samples say.
 */
#ifndef STORE_RUN_REPLAY_H
#define STORE_RUN_REPLAY_H

#include <jansson.h>
#include <stdint.h>

#include "model/tree/run.h"

struct run_replay {
	uint64_t events, forks, exits; /* lines that were replayed */
	/* From the samples.  The most at one time is 0 when no sample has it. */
	uint64_t processes_ever, threads_ever, unseen_cpu_ns;
	uint64_t most_processes, most_threads;
	json_t *live;	 /* the last list of live processes, or NULL */
	json_t *waiting; /* events of processes whose number still has its former owner; or NULL */
	uint64_t latest_ns;
	ARRAY_OF(uint32_t) frames; /* of the profile, by their number in the file */
};

#define REPLAY_NO_FRAME UINT32_MAX

/* All return 0 or -ENOMEM.  What a line lacks, or has in an unknown form, is absent. */
int run_replay_event(struct run_replay *replay, json_t *line, struct run *run); /* may keep it */
int run_replay_exit(struct run_replay *replay, const json_t *line, struct run *run);
int run_replay_sample(struct run_replay *replay, const json_t *line, struct run *run);
/* Takes a reference to the line. */
int run_replay_tree(struct run_replay *replay, json_t *line, struct run *run);

int run_replay_frame(struct run_replay *replay, const json_t *line, struct run *run);
int run_replay_stack(struct run_replay *replay, const json_t *line, struct run *run);

/* Replays the members that a summary names and no line before it did. */
int run_replay_summary(struct run_replay *replay, const json_t *line, struct run *run);
/* The lines ended without a summary: replays what was alive, and completes the sums. */
int run_replay_finish(struct run_replay *replay, struct run *run);
void run_replay_free(struct run_replay *replay);

#endif
