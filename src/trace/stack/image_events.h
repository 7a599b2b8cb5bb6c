/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a tree map, fork and execute, from perf events of all CPUs.  Each CPU has a
 * ring of its own, so events are put in the order of time before they are sent.
 */
#ifndef TRACE_IMAGE_EVENTS_H
#define TRACE_IMAGE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "trace/tracer_stack.h"

struct image_ring {
	int fd; /* readable when the ring begins to be full */
	void *memory;
	size_t bytes; /* of records, behind the first page */
};

struct image_pending {
	struct tracer_image_event event;
	size_t path;  /* where it is in `paths` */
	size_t order; /* among those of one time */
};

/* Empty, and valid, when all zeros. */
struct image_events {
	ARRAY_OF(struct image_ring) rings;
	ARRAY_OF(struct image_pending) pending; /* those before `sent` are done with */
	ARRAY_OF(char) paths;
	size_t sent;
	struct number_map members; /* processes of the tree */
	uint64_t lost;
};

/* Begins to record on all CPUs that are online.  0 or a negative errno. */
int image_events_open(struct image_events *events);
void image_events_close(struct image_events *events);

/* The process belongs to the tree; those that it forks from now on do so by themselves.  0 or -ENOMEM. */
int image_events_join(struct image_events *events, int32_t pid);
/* The process ended then. */
int image_events_end(struct image_events *events, int32_t pid, uint64_t time_ns);

/* Takes over what has happened.  0 or -ENOMEM. */
int image_events_read(struct image_events *events);
/* Sends what happened in the tree until then.  0, or what the sink returned. */
int image_events_send(struct image_events *events, uint64_t until_ns,
		      const struct tracer_stack_sink *sink);

#endif
