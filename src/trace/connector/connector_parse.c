/* SPDX-License-Identifier: MIT */
#include "trace/connector/connector_parse.h"

#include <errno.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>

#include "model/tree/tree_event.h"

#define HEAD_BYTES (NLMSG_HDRLEN + sizeof(struct cn_msg))

/* The least that an event has behind its head. */
static size_t least_bytes(uint32_t what)
{
	switch (what) {
	case PROC_EVENT_NONE:
		return sizeof(uint32_t);
	case PROC_EVENT_FORK:
		return sizeof(struct fork_proc_event);
	case PROC_EVENT_EXEC:
		return sizeof(struct exec_proc_event);
	case PROC_EVENT_EXIT:
		return offsetof(struct exit_proc_event, parent_pid);
	case PROC_EVENT_COMM:
		return sizeof(struct comm_proc_event);
	default:
		return 0;
	}
}

/* The parts of the message are aligned for 32-bit numbers only, so copy them. */
int connector_parse(const void *message, size_t length, struct connector_event *ret)
{
	struct connector_event found = { 0 };
	struct nlmsghdr header;
	struct cn_msg inner;
	size_t size;

	if (length < HEAD_BYTES)
		return -EBADMSG;
	memcpy(&header, message, sizeof(header));
	memcpy(&inner, (const char *)message + NLMSG_HDRLEN, sizeof(inner));
	if (header.nlmsg_len > length || header.nlmsg_len < HEAD_BYTES ||
	    header.nlmsg_type != NLMSG_DONE || inner.len > header.nlmsg_len - HEAD_BYTES ||
	    inner.id.idx != CN_IDX_PROC || inner.id.val != CN_VAL_PROC)
		return -EBADMSG;
	size = inner.len < sizeof(found.kernel) ? inner.len : sizeof(found.kernel);
	memcpy(&found.kernel, (const char *)message + HEAD_BYTES, size);
	if (size < offsetof(struct proc_event, event_data) + least_bytes(found.kernel.what))
		return -EBADMSG;
	if (found.kernel.what == PROC_EVENT_COMM)
		found.kernel.event_data.comm.comm[TREE_COMM_SIZE - 1] = '\0';
	found.sequence = inner.seq;
	found.answers = inner.ack - 1;
	*ret = found;
	return 0;
}
