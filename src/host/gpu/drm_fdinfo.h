/* SPDX-License-Identifier: MIT */
/*
 * What the kernel's graphics drivers say in /proc/PID/fdinfo about a client, which is an open file of a GPU
 * (Documentation/gpu/drm-usage-stats.rst): amdgpu, i915, xe, nouveau, panfrost and others.
 */
#ifndef HOST_DRM_FDINFO_H
#define HOST_DRM_FDINFO_H

#include <stdbool.h>
#include <stdint.h>

#define DRM_NAME_SIZE 48

struct drm_client {
	char driver[DRM_NAME_SIZE];
	char device[DRM_NAME_SIZE]; /* its place on the bus; that of the driver where it has none */
	uint64_t id;		    /* of the client: the same for copies of a descriptor */
	bool has_time, has_memory;
	uint64_t time_ns;      /* of all engines together */
	uint64_t memory_bytes; /* resident, of all regions together */
};

/* False when the file is not that of a GPU, or does not say which client it is. */
bool drm_fdinfo_parse(const char *text, struct drm_client *ret);

#endif
