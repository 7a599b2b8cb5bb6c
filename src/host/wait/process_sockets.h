/* SPDX-License-Identifier: MIT */
/*
 * The sockets that a process has open: whether it is somebody's client, or others are its clients.
 */
#ifndef HOST_WAIT_PROCESS_SOCKETS_H
#define HOST_WAIT_PROCESS_SOCKETS_H

#include <stdint.h>

#include "host/wait/descriptor_holders.h"

struct host;

struct process_sockets {
	uint32_t connected; /* TCP, to other hosts or over loopback */
	uint32_t listening; /* TCP and Unix */
	char link
		[DESCRIPTOR_LINK]; /* of one that is connected, as the kernel writes it; "": none */
};

/*
 * Adds the sockets of a process to *ret, until the deadline (CLOCK_MONOTONIC).  Links are read and
 * never followed.  0; -E2BIG when it has more than a client would, which are not all looked at;
 * -ETIMEDOUT; or another negative errno.
 */
int process_sockets_add(const struct host *host, int32_t pid, uint64_t deadline_ns,
			struct process_sockets *ret);

#endif
