/* SPDX-License-Identifier: MIT */
/*
 * Converts a run to a snapshot and back.  The snapshot shows the tree at its end, with its past,
 * so everything that reads snapshots can read a run.
 *
 * Each task that the tree kept, ended or not, has a row.  Rows with tid 0 stand for the others:
 * one for each process, with its threads that were not kept; one for each program, with its
 * processes that were not kept; and one for what belongs to no known process.  So the rows add up
 * to the sums of the tree.
 */
#ifndef MODEL_RUN_SNAPSHOT_H
#define MODEL_RUN_SNAPSHOT_H

struct run;
struct snapshot;

/* The row of what belongs to no known process is called TREE_UNSEEN. */
/* The row of the programs that found no room for a row of their own. */
#define RUN_OTHER_PROGRAMS "(other programs)"

/* 0 and a snapshot the caller frees, or -ENOMEM. */
int run_to_snapshot(const struct run *run, struct snapshot **ret);

/*
 * The opposite, for a snapshot that is a run (snapshot_is_run()): gives a complete run, which the
 * caller frees and which reports and verdicts can use.  0 or -ENOMEM.
 */
int run_from_snapshot(const struct snapshot *snapshot, struct run **ret);

/* What run_lower_bounds() says about the run that the snapshot is made from; 0 for a capture. */
unsigned run_snapshot_bounds(const struct snapshot *snapshot);

#endif
