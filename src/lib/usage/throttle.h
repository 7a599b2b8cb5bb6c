/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether a CPU quota keeps the process from running: that of its control group, or of
 * one above it.
 */
#ifndef LIB_THROTTLE_H
#define LIB_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	THROTTLE_LEVELS = 16,
	THROTTLE_PATH_SIZE = 512,
	THROTTLE_MOUNTS_SIZE = 65536,
};

struct throttle {
	bool is_found;
	bool is_old;		       /* cgroup version 1: times are in nanoseconds */
	char path[THROTTLE_PATH_SIZE]; /* the group's folder */
	unsigned int mount_length;     /* the part of it that is the hierarchy's root */
	unsigned int level_count;
	uint64_t throttled_ns[THROTTLE_LEVELS]; /* of the group, then of its parents */
	char mounts[THROTTLE_MOUNTS_SIZE];	/* the kernel's list, while it is searched */
};

/*
 * Finds the groups.  A process can be moved to another group, so call it again from time to time.
 */
void throttle_find(struct throttle *throttle);
/* Reads how long each group was throttled.  Returns the largest growth since the last call. */
uint64_t throttle_grown_ns(struct throttle *throttle);

/* For tests: finds the group's folder from the contents of the kernel's files, which it cuts up. */
bool throttle_parse(struct throttle *throttle, char *groups, char *mounts);

#endif
