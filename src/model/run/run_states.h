/* SPDX-License-Identifier: MIT */
/*
 * Keeps the sheets of the host and of the tree's cgroups as they were at the beginning and at the
 * end of a run.
 *
 * In the sheets of the end, counters count from the beginning, as all counters of a run do.  One
 * that was not there at the beginning is absent.
 */
#ifndef MODEL_RUN_STATES_H
#define MODEL_RUN_STATES_H

struct run;
struct snapshot;

/* Copies the sheets into run->states.  `host` and `cgroups` are the beginning.  0 or -ENOMEM. */
int run_keep_states(struct run *run, const struct snapshot *host, const struct snapshot *cgroups,
		    const struct snapshot *end);

/* Copies them on into the snapshot of the run.  0 or -ENOMEM. */
int run_add_states(struct snapshot *snapshot, const struct run *run);

#endif
