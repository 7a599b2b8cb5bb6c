/* SPDX-License-Identifier: MIT */
/* The names of the parts of a profile in the JSON of a run.  Private to src/store/run. */
#ifndef STORE_RUN_STACKS_H
#define STORE_RUN_STACKS_H

#include "model/profile/profile.h"

/* The objects of `profile` in the summary, one for each kind of sample. */
extern const char *const run_profile_keys[PROFILE_KINDS];

#endif
