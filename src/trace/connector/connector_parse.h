/* SPDX-License-Identifier: MIT */
/* Parses messages of the kernel's process connector.  Pure: never reads beyond the given bytes. */
#ifndef TRACE_CONNECTOR_PARSE_H
#define TRACE_CONNECTOR_PARSE_H

#include <linux/cn_proc.h>
#include <stddef.h>
#include <stdint.h>

struct connector_event {
	uint32_t sequence; /* numbers the messages of each CPU */
	uint32_t answers;  /* of the kernel's answer (PROC_EVENT_NONE): the `ack` of our request */
	/*
	 * As the kernel sent it, and zeros behind that: kernels before 4.18 name no parent.  A comm
	 * ends with a NUL.
	 */
	struct proc_event kernel;
};

/*
 * Parses one message, which must be aligned for 32-bit numbers.  Returns 0, or -EBADMSG when it is
 * not an event of the connector, or shorter than its kind must be.
 */
int connector_parse(const void *message, size_t length, struct connector_event *ret);

#endif
