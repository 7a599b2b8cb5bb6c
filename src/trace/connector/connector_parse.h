/* SPDX-License-Identifier: MIT */
/* Parses messages of the kernel's process connector.  Pure: never reads beyond the given bytes. */
#ifndef TRACE_CONNECTOR_PARSE_H
#define TRACE_CONNECTOR_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "model/tree/tree_event.h"

enum connector_event_type {
	CONNECTOR_ANSWER, /* the kernel's answer to our request */
	CONNECTOR_FORK,
	CONNECTOR_EXEC,
	CONNECTOR_EXIT,
	CONNECTOR_COMM,
	CONNECTOR_OTHER,
	CONNECTOR_TYPES,
};

struct connector_event {
	enum connector_event_type type;
	uint32_t sequence; /* numbers the messages of each CPU */
	uint32_t answers;  /* of an answer: the `ack` of our request */
	uint32_t cpu;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int32_t pid, tid;
	int32_t parent_pid; /* of a fork or exit: the process that waits for it; 0: not known */
	int status;	    /* of an exit: as wait() has it; of an answer: 0 or a negative errno */
	char comm[TREE_COMM_SIZE];
};

/*
 * Parses one message, which must be aligned for 32-bit numbers.  Returns 0, or -EBADMSG when it is
 * not an event of the connector.
 */
int connector_parse(const void *message, size_t length, struct connector_event *ret);

#endif
