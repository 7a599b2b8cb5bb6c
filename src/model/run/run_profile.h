/* SPDX-License-Identifier: MIT */
/*
 * Writes the profile of a run as sheets of its snapshot, and reads it back.  Private to
 * src/model/run.
 */
#ifndef MODEL_RUN_PROFILE_H
#define MODEL_RUN_PROFILE_H

struct profile;
struct run;
struct snapshot;

/* 0 or -ENOMEM. */
int run_add_profile(struct snapshot *snapshot, const struct profile *profile);

/*
 * Sets run->profile, unless the run had none.  A frame or node that cannot be is left out; a sample
 * without its node keeps its time.  0 or -ENOMEM.
 */
int run_restore_profile(const struct snapshot *snapshot, struct run *run);

#endif
