/* SPDX-License-Identifier: MIT */
#include "trace/connector/connector_socket.h"

#include <errno.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "host/netlink.h"

#define MESSAGE_BYTES 256
#define QUEUE_BYTES (8 * 1024 * 1024) /* some 10,000 events */
#define ANSWER_MS 500		      /* the kernel normally answers at once */
#define CPUS_MAX 65536
#define ERRNO_MOST 4095

/* The number that the next event of a CPU should have. */
struct cpu_sequence {
	bool known;
	uint32_t next;
};

struct connector_socket {
	struct netlink *netlink;
	ARRAY_OF(struct cpu_sequence) cpus;
	uint64_t lost;
	uint64_t overruns; /* each lost at least one event, not yet seen as a gap */
};

static int ask(const struct netlink *netlink, enum proc_cn_mcast_op operation, uint32_t number)
{
	char question[NLMSG_HDRLEN + sizeof(struct cn_msg) + sizeof(operation)];
	const struct nlmsghdr header = { .nlmsg_len = sizeof(question), .nlmsg_type = NLMSG_DONE };
	const struct cn_msg message = {
		.id = { CN_IDX_PROC, CN_VAL_PROC },
		.ack = number,
		.len = sizeof(operation),
	};

	memcpy(question, &header, sizeof(header));
	memcpy(question + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(question + NLMSG_HDRLEN + sizeof(message), &operation, sizeof(operation));
	return netlink_send(netlink, question, sizeof(question));
}

/*
 * Tell the kernel that we stop: before 6.6 it counts listeners and does not notice when one is
 * gone.
 */
void connector_socket_close(struct connector_socket *socket)
{
	if (!socket)
		return;
	if (socket->netlink)
		(void)ask(socket->netlink, PROC_CN_MCAST_IGNORE, 0);
	netlink_close(socket->netlink);
	array_free(&socket->cpus);
	free(socket);
}

int connector_socket_fd(const struct connector_socket *socket)
{
	return netlink_fd(socket->netlink);
}

uint64_t connector_socket_lost(const struct connector_socket *socket)
{
	return socket->lost + socket->overruns;
}

/*
 * The events of an overrun show up as a gap later.  Subtract them then, so that the sum never
 * falls.
 */
static void add_gap(struct connector_socket *socket, uint32_t events)
{
	socket->lost += events;
	socket->overruns -= events < socket->overruns ? events : socket->overruns;
}

/* When memory runs out, the gaps of this CPU stay unknown. */
static void count_gap(struct connector_socket *socket, const struct connector_event *event)
{
	struct cpu_sequence *cpu;

	if (event->kernel.cpu >= CPUS_MAX)
		return;
	while (socket->cpus.count <= event->kernel.cpu)
		if (array_append(&socket->cpus, (struct cpu_sequence){ 0 }) < 0)
			return;
	cpu = &socket->cpus.data[event->kernel.cpu];
	if (cpu->known)
		add_gap(socket, event->sequence - cpu->next);
	*cpu = (struct cpu_sequence){ true, event->sequence + 1 };
}

static int receive(struct connector_socket *socket)
{
	int count = netlink_receive(socket->netlink, MSG_DONTWAIT);

	if (count == -ENOBUFS)
		socket->overruns++;
	return count == -EAGAIN ? 0 : count;
}

int connector_socket_receive(struct connector_socket *socket,
			     struct connector_event events[CONNECTOR_BATCH])
{
	int taken = 0;

	while (taken == 0) {
		int count = receive(socket);

		if (count <= 0)
			return count;
		for (int i = 0; i < count; i++) {
			size_t length;
			const void *message = netlink_message(socket->netlink, i, &length);

			if (!message || connector_parse(message, length, &events[taken]) < 0)
				continue;
			count_gap(socket, &events[taken]);
			taken++;
		}
	}
	return taken;
}

/* Whether the answer was found, or cannot come any more: later events come after it. */
static bool find_answer(const struct connector_event *events, int count, uint32_t number,
			uint64_t asked_ns, int *ret)
{
	for (int i = 0; i < count; i++) {
		const struct proc_event *event = &events[i].kernel;

		if (event->what == PROC_EVENT_NONE && events[i].answers == number) {
			uint32_t error = event->event_data.ack.err;

			*ret = error <= ERRNO_MOST ? -(int)error : -EPROTO;
			return true;
		}
		if (event->timestamp_ns > asked_ns)
			return true;
	}
	return false;
}

/* Events and the answers to other listeners arrive here too; on a busy host they never end. */
static int await_answer(struct connector_socket *socket, uint32_t number)
{
	struct connector_event *events = calloc(CONNECTOR_BATCH, sizeof(*events));
	uint64_t asked_ns = monotonic_ns();
	int status = -ETIMEDOUT, count;

	while (events && netlink_wait(socket->netlink, ANSWER_MS)) {
		count = connector_socket_receive(socket, events);
		if (find_answer(events, count, number, asked_ns, &status))
			break;
		if (count < 0 && count != -ENOBUFS) {
			status = count;
			break;
		}
	}
	free(events);
	return status;
}

static int explain(int status, struct error *error)
{
	switch (status) {
	case -EPERM:
	case -EACCES:
		return error_set(error, status,
				 "the process connector needs CAP_NET_ADMIN: run as root");
	case -ECONNREFUSED:
		return error_set(
			error, status,
			"the process connector is only in the host's network namespace, and only "
			"of kernels with CONFIG_PROC_EVENTS");
	case -ETIMEDOUT:
		return error_set(
			error, status,
			"the process connector does not answer: it serves only the host's PID and user "
			"namespaces, not those of a container");
	case -EPROTONOSUPPORT:
	case -ENOENT:
		return error_set(error, status,
				 "this kernel has no process connector (CONFIG_PROC_EVENTS)");
	default:
		return error_set(error, status, "the process connector cannot be used: %s",
				 strerror(-status));
	}
}

static int listen_to(struct connector_socket *socket)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	uint32_t number = (uint32_t)getpid();
	int status;

	if (bind(netlink_fd(socket->netlink), (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	status = ask(socket->netlink, PROC_CN_MCAST_LISTEN, number);
	return status < 0 ? status : await_answer(socket, number);
}

int connector_socket_open(struct connector_socket **ret, struct error *error)
{
	CLEANUP(connector_socket_close_pointer) struct connector_socket *opened = NULL;
	const struct netlink_size size = { CONNECTOR_BATCH, MESSAGE_BYTES, QUEUE_BYTES };
	int status;

	opened = calloc(1, sizeof(*opened));
	if (!opened)
		return error_set(error, -ENOMEM, "out of memory");
	status = netlink_open(NETLINK_CONNECTOR, size, &opened->netlink);
	if (status == 0)
		status = listen_to(opened);
	if (status < 0)
		return explain(status, error);
	*ret = TAKE_PTR(opened);
	return 0;
}
