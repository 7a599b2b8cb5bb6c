/* SPDX-License-Identifier: MIT */
/*
 * What processes use of GPUs with a driver of the kernel: each open file of a GPU (a client) says it in fdinfo.  Copies of
 * a descriptor are one client, which counts once, for the first process that has it.
 *
 * To look through the descriptors of all processes takes long.  So all are looked at in the first sample; then those that
 * had a client or are new, and an eighth of the others.
 *
 * What a client did before it was closed stays in its process's time, of clients that a sample saw.
 */
#ifndef COLLECT_DRM_CLIENTS_H
#define COLLECT_DRM_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/deadline_run.h"
#include "host/gpu/drm_fdinfo.h"

struct capture;

/* A client that a sample saw. */
struct drm_seen {
	int32_t tgid;
	uint64_t start_time_ns; /* of its process */
	struct drm_client client;
	unsigned sample; /* the last one that saw it */
};

/* A process that has or had clients. */
struct drm_user {
	int32_t tgid;
	uint64_t start_time_ns;
	uint64_t closed_ns; /* what clients did that it has closed */
	unsigned sample;
};

/* Kept from one sample to the next.  All zeros is valid. */
struct drm_clients {
	ARRAY_OF(struct drm_seen) seen;
	ARRAY_OF(struct drm_user) users;
	struct deadline_threads threads;
	uint64_t looked_boot_ns; /* at the last sample; 0: there was none */
	unsigned sample;
	uint64_t left_out; /* clients for which there is no room */
};

void drm_clients_clear(struct drm_clients *clients);

/* Reads them into the metrics of the snapshot's processes.  0 or -ENOMEM. */
int drm_clients_read(struct drm_clients *clients, struct capture *capture);

#endif
