/* SPDX-License-Identifier: MIT */
/* GPUs with a driver of the kernel, as sys tells of them. */
#ifndef COLLECT_DRM_DEVICES_H
#define COLLECT_DRM_DEVICES_H

#include <stddef.h>

struct capture;

/*
 * Reads the devices below class/drm of sys that have a driver for rendering, but not NVIDIA's own, which is asked
 * otherwise.  Returns how many there are, or -ENOMEM.
 */
int drm_devices_read(struct capture *capture);

#endif
