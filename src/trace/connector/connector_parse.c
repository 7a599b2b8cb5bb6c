/* SPDX-License-Identifier: MIT */
#include "trace/connector/connector_parse.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <string.h>

#include "base/array.h"

#define HEAD_BYTES (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define DATA_OFFSET offsetof(struct proc_event, event_data)

static void take_answer(const struct proc_event *event, struct connector_event *ret)
{
	ret->status = event->event_data.ack.err <= 4095 ? -(int)event->event_data.ack.err : -EPROTO;
}

static void take_fork(const struct proc_event *event, struct connector_event *ret)
{
	ret->pid = event->event_data.fork.child_tgid;
	ret->tid = event->event_data.fork.child_pid;
	ret->parent_pid = event->event_data.fork.parent_tgid;
}

static void take_exec(const struct proc_event *event, struct connector_event *ret)
{
	ret->pid = event->event_data.exec.process_tgid;
	ret->tid = event->event_data.exec.process_pid;
}

static void take_exit(const struct proc_event *event, struct connector_event *ret)
{
	ret->pid = event->event_data.exit.process_tgid;
	ret->tid = event->event_data.exit.process_pid;
	ret->parent_pid = event->event_data.exit.parent_tgid;
	ret->status = (int)(event->event_data.exit.exit_code & 0xffff);
}

static void take_comm(const struct proc_event *event, struct connector_event *ret)
{
	ret->pid = event->event_data.comm.process_tgid;
	ret->tid = event->event_data.comm.process_pid;
	memcpy(ret->comm, event->event_data.comm.comm, sizeof(ret->comm));
	ret->comm[sizeof(ret->comm) - 1] = '\0';
}

/* How each kind of event is read.  An event shorter than `size` is not of that kind. */
static const struct {
	uint32_t what;
	enum connector_event_type type;
	size_t size;
	void (*take)(const struct proc_event *event, struct connector_event *ret);
} kinds[] = {
	{ PROC_EVENT_NONE, CONNECTOR_ANSWER, sizeof(uint32_t), take_answer },
	{ PROC_EVENT_FORK, CONNECTOR_FORK, sizeof(struct fork_proc_event), take_fork },
	{ PROC_EVENT_EXEC, CONNECTOR_EXEC, sizeof(struct exec_proc_event), take_exec },
	/* Kernels before 4.18 do not give the parent. */
	{ PROC_EVENT_EXIT, CONNECTOR_EXIT, offsetof(struct exit_proc_event, parent_pid),
	  take_exit },
	{ PROC_EVENT_COMM, CONNECTOR_COMM, sizeof(struct comm_proc_event), take_comm },
};

static int take_event(const struct proc_event *event, size_t size, struct connector_event *ret)
{
	ret->type = CONNECTOR_OTHER;
	ret->cpu = event->cpu;
	ret->time_ns = event->timestamp_ns;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].what != (uint32_t)event->what)
			continue;
		if (size < DATA_OFFSET + kinds[i].size)
			return -EBADMSG;
		ret->type = kinds[i].type;
		kinds[i].take(event, ret);
	}
	return 0;
}

/* The parts of the message are aligned for 32-bit numbers only, so copy them. */
int connector_parse(const void *message, size_t length, struct connector_event *ret)
{
	struct connector_event found = { 0 };
	struct proc_event event = { 0 };
	struct nlmsghdr header;
	struct cn_msg inner;
	size_t size;

	if (length < HEAD_BYTES)
		return -EBADMSG;
	memcpy(&header, message, sizeof(header));
	memcpy(&inner, (const char *)message + NLMSG_HDRLEN, sizeof(inner));
	if (header.nlmsg_len > length || header.nlmsg_len < HEAD_BYTES ||
	    header.nlmsg_type != NLMSG_DONE || inner.len > header.nlmsg_len - HEAD_BYTES ||
	    inner.id.idx != CN_IDX_PROC || inner.id.val != CN_VAL_PROC || inner.len < DATA_OFFSET)
		return -EBADMSG;
	size = inner.len < sizeof(event) ? inner.len : sizeof(event);
	memcpy(&event, (const char *)message + HEAD_BYTES, size);
	found.sequence = inner.seq;
	found.answers = inner.ack - 1;
	if (take_event(&event, size, &found) < 0)
		return -EBADMSG;
	*ret = found;
	return 0;
}
