/* SPDX-License-Identifier: MIT */
/*
 * Messages of the kernel's process connector.  Pure: takes bytes and never looks beyond them.
 */
#ifndef TRACE_CONNECTOR_PARSE_H
#define TRACE_CONNECTOR_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "model/tree_event.h"

enum connector_event_type {
	CONNECTOR_ANSWER, /* to what we asked for */
	CONNECTOR_FORK,
	CONNECTOR_EXEC,
	CONNECTOR_EXIT,
	CONNECTOR_COMM,
	CONNECTOR_OTHER,
};

struct connector_event {
	enum connector_event_type type;
	uint32_t sequence; /* counts the messages of a CPU */
	uint32_t answers;  /* of an answer: the `ack` of the question */
	uint32_t cpu;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	int32_t pid, tid;
	int32_t parent_pid; /* of a fork or exit: the process that waits for it; 0 when not told */
	int status;	    /* of an exit: as wait() has it; of an answer: 0 or a negative errno */
	char comm[TREE_COMM_SIZE];
};

/*
 * Takes one message, aligned for 32-bit numbers, apart.  Returns 0, or -EBADMSG for what is no
 * event of the connector.
 */
int connector_parse(const void *message, size_t length, struct connector_event *ret);

#endif
