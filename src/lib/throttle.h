/* SPDX-License-Identifier: MIT */
/*
 * Whether the process is kept from its CPUs by a quota of its control group, or of one above it.
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
	bool is_old;		       /* version 1: in nanoseconds */
	char path[THROTTLE_PATH_SIZE]; /* of the group's folder */
	unsigned int mount_length;     /* the part of it that is the hierarchy's root */
	unsigned int level_count;
	uint64_t throttled_ns[THROTTLE_LEVELS]; /* of the group, then of those around it */
	char mounts[THROTTLE_MOUNTS_SIZE];	/* the kernel's list, while it is looked through */
};

/* Finds the groups; a process can be moved, so ask again from time to time. */
void throttle_find(struct throttle *throttle);
/* Reads them: by how much the time grew that one of them was throttled, since the last time. */
uint64_t throttle_grown_ns(struct throttle *throttle);

/* For tests: the place of a group, from the contents of the kernel's files. */
bool throttle_parse(struct throttle *throttle, const char *groups, const char *mounts);

#endif
