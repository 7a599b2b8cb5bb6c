/* SPDX-License-Identifier: MIT */
/*
 * This room reads GPUs: what their drivers say about them, as readings "gpu DEVICE ..." of the host, and what processes
 * use of them, as metrics.
 *
 * NVIDIA's driver is asked at the beginning of a sample (gpu_begin) and answers while the tasks are listed; its devices
 * have numbers.  Those of the kernel's own drivers have their place on the bus: sys tells of the device
 * (drm_devices.h), fdinfo of the processes (drm_clients.h).
 */
#ifndef COLLECT_GPU_SOURCE_H
#define COLLECT_GPU_SOURCE_H

#include <stdint.h>

#include "collect/gpu/drm_clients.h"

/* How long a sample waits for NVIDIA's driver; at first it may have to wake the GPU. */
#define GPU_FIRST_MS 5000
#define GPU_LATER_MS 1000

struct gpu;

struct gpu_source {
	struct gpu *nvidia;
	unsigned samples;
	struct drm_clients clients;
};

void gpu_source_close(struct gpu_source *source); /* NULL is allowed */

#endif
