/* SPDX-License-Identifier: MIT */
/*
 * Asks about GPUs while a tree is watched, with --gpu: once in a second, and less often where that would take more than
 * half a percent of a core.  Nobody waits for a driver, except at the end for one that has not answered at all.
 */
#ifndef SESSION_WATCH_GPU_H
#define SESSION_WATCH_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "model/tree/run.h"

struct sampling;
struct watch;

/* A member of which something is known. */
struct watch_gpu_user {
	struct run_gpu_user total;
	struct run_number
		time_before_ns; /* that engines had worked for it when it was first seen */
};

/* All zeros: they are not asked about. */
struct watch_gpu {
	struct sampling *sampling;
	ARRAY_OF(int32_t) pids;
	ARRAY_OF(struct watch_gpu_user) users;
	uint64_t next_ns;
	double busy_sum; /* of the samples' busiest GPU */
	uint64_t busy_samples;
	bool has_begun;	 /* members of the first sample may have used GPUs before */
	bool has_failed; /* for lack of memory */
};

/* Begins to ask, if that is wanted; before the command is released. */
void watch_open_gpu(struct watch *watch);
/* Takes the answer, if one is due and there, and asks again. */
void watch_sample_gpu(struct watch *watch, uint64_t now_ns);
/* Keeps in the run what was learned, and how.  0 or -ENOMEM. */
int watch_finish_gpu(struct watch *watch);
void watch_close_gpu(struct watch_gpu *gpu);

#endif
