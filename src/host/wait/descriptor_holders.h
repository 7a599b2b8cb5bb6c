/* SPDX-License-Identifier: MIT */
/*
 * Finds the processes that have a pipe, a socket or another file open, by the links in their fd
 * directories.  Links are read and never followed.
 */
#ifndef HOST_WAIT_DESCRIPTOR_HOLDERS_H
#define HOST_WAIT_DESCRIPTOR_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;

#define DESCRIPTOR_LINK 128
#define DESCRIPTOR_HOLDERS 16

struct descriptor_holder {
	int32_t pid;
	bool reads, writes; /* how it is open, in any of its descriptors */
};

struct descriptor_search {
	char link[DESCRIPTOR_LINK]; /* as the kernel writes it: "pipe:[812]" */
	struct descriptor_holder holders[DESCRIPTOR_HOLDERS];
	size_t count;
	bool has_more; /* than `holders` has room for */
};

/*
 * Fills the holders of all searches in one walk over all processes, until the deadline
 * (CLOCK_MONOTONIC).  Returns whether every process could be read: else there may be holders that
 * are not in the lists.
 */
bool descriptor_holders_find(const struct host *host, struct descriptor_search *searches,
			     size_t count, uint64_t deadline_ns);

#endif
