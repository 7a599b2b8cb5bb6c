/* SPDX-License-Identifier: MIT */
/*
 * This room asks NVIDIA's driver about its GPUs: by NVML in a helper process, else by nvidia-smi.  Neither can make us
 * wait for longer than we want, or end us: their code never runs in our own process.
 *
 *	gpu_open(&gpu);		finds a way; starts nothing
 *	gpu_ask(gpu);		then, as often as you like: asks, does not wait
 *	gpu_take(gpu, 500);	the answer
 *	gpu_close(gpu);
 *
 * A driver that once kept us waiting for too long is not waited for any more: its answer is taken at the next question.
 */
#ifndef HOST_GPU_H
#define HOST_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "host/gpu/gpu_report.h"

#define GPU_HUNG_MS 10000 /* then what was asked is ended */

struct gpu;

/* 0 or -ENOMEM.  That there is no way to ask shows when it is asked. */
int gpu_open(struct gpu **ret);
void gpu_close(struct gpu *gpu); /* NULL is allowed */
CLEANUP_POINTER(gpu_close, struct gpu)

void gpu_ask(struct gpu *gpu);

/*
 * The newest answer to what was asked, waiting for it at most this long; each answer is given once.  NULL when there is
 * none: gpu_reason() says why.  It is valid until the next question.
 */
const struct gpu_report *gpu_take(struct gpu *gpu, unsigned patience_ms);

/* When the answer that was taken last was asked for, on CLOCK_BOOTTIME: processes that began later are others. */
uint64_t gpu_asked_boot_ns(const struct gpu *gpu);

/* Why there is no answer, in a sentence. */
const char *gpu_reason(struct gpu *gpu);

/* How it is asked: "NVML", "nvidia-smi", or NULL when there is no way. */
const char *gpu_way(const struct gpu *gpu);

#endif
