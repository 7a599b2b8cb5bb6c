/* SPDX-License-Identifier: MIT */
#include "host/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/cleanup.h"

/* What one message is received into. */
struct slot {
	struct iovec vector;
	struct sockaddr_nl sender;
};

struct netlink {
	int fd;
	bool is_real; /* the kernel is at the other end, and names itself as the sender */
	unsigned count;
	struct mmsghdr *headers;
	struct slot *slots;
	char *bytes;
};

void netlink_close(struct netlink *netlink)
{
	if (!netlink)
		return;
	close_fd(&netlink->fd);
	free(netlink->headers);
	free(netlink->slots);
	free(netlink->bytes);
	free(netlink);
}

/* Without CAP_NET_ADMIN the queue stays at the host's limit. */
static void enlarge_queue(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

struct netlink *netlink_adopt(int fd, struct netlink_size size)
{
	CLEANUP(netlink_close_pointer) struct netlink *fresh = calloc(1, sizeof(*fresh));

	if (!fresh) {
		close(fd);
		return NULL;
	}
	fresh->fd = fd;
	fresh->count = size.messages;
	fresh->headers = calloc(size.messages, sizeof(*fresh->headers));
	fresh->slots = calloc(size.messages, sizeof(*fresh->slots));
	fresh->bytes = malloc(size.messages * size.message_bytes);
	if (!fresh->headers || !fresh->slots || !fresh->bytes)
		return NULL;
	for (unsigned i = 0; i < size.messages; i++) {
		struct slot *slot = &fresh->slots[i];

		slot->vector =
			(struct iovec){ fresh->bytes + i * size.message_bytes, size.message_bytes };
		fresh->headers[i].msg_hdr = (struct msghdr){
			.msg_iov = &slot->vector,
			.msg_iovlen = 1,
			.msg_name = &slot->sender,
		};
	}
	enlarge_queue(fd, size.queue_bytes);
	return TAKE_PTR(fresh);
}

int netlink_open(int protocol, struct netlink_size size, struct netlink **ret)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd < 0)
		return -errno;
	*ret = netlink_adopt(fd, size);
	if (!*ret)
		return -ENOMEM;
	(*ret)->is_real = true;
	return 0;
}

int netlink_fd(const struct netlink *netlink)
{
	return netlink->fd;
}

/* A netlink socket that is not connected sends to the kernel. */
int netlink_send(const struct netlink *netlink, const void *bytes, size_t length)
{
	ssize_t sent = send(netlink->fd, bytes, length, MSG_NOSIGNAL);

	if (sent < 0)
		return -errno;
	return (size_t)sent == length ? 0 : -EIO;
}

int netlink_receive(struct netlink *netlink, int flags)
{
	int count;

	for (unsigned i = 0; i < netlink->count; i++)
		netlink->headers[i].msg_hdr.msg_namelen = sizeof(netlink->slots[i].sender);
	do
		count = recvmmsg(netlink->fd, netlink->headers, netlink->count, flags, NULL);
	while (count < 0 && errno == EINTR);
	return count < 0 ? -errno : count;
}

const void *netlink_message(const struct netlink *netlink, int i, size_t *ret_length)
{
	const struct mmsghdr *header = &netlink->headers[i];
	const struct slot *slot = &netlink->slots[i];
	bool is_named = header->msg_hdr.msg_namelen >= sizeof(slot->sender);

	if (header->msg_hdr.msg_flags & MSG_TRUNC ||
	    (is_named ? slot->sender.nl_pid != 0 : netlink->is_real))
		return NULL;
	*ret_length = header->msg_len;
	return slot->vector.iov_base;
}

bool netlink_wait(const struct netlink *netlink, int timeout_ms)
{
	struct pollfd ready = { .fd = netlink->fd, .events = POLLIN };

	return poll(&ready, 1, timeout_ms) > 0;
}
