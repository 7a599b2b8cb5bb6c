/* SPDX-License-Identifier: MIT */
/*
 * A netlink socket that sends to the kernel and receives the kernel's messages, many at a time.
 * For use from one thread.
 */
#ifndef HOST_NETLINK_H
#define HOST_NETLINK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct netlink;

struct netlink_size {
	unsigned messages;    /* received in one call */
	size_t message_bytes; /* of each; a longer one is cut, and not valid */
	int queue_bytes;      /* what the kernel may keep for us until we receive it */
};

/* Returns 0 and a socket of that protocol, or a negative errno. */
int netlink_open(int protocol, struct netlink_size size, struct netlink **ret);

/*
 * Makes one of an fd that behaves like the kernel, but gives its messages no sender.  Takes
 * ownership of the fd.  NULL when there is no memory.
 */
struct netlink *netlink_adopt(int fd, struct netlink_size size);

void netlink_close(struct netlink *netlink); /* NULL is allowed */
CLEANUP_POINTER(netlink_close, struct netlink)

int netlink_fd(const struct netlink *netlink);

/* Sends a message, or several in a row.  0 or a negative errno. */
int netlink_send(const struct netlink *netlink, const void *bytes, size_t length);

/* Receives messages, with flags of recvmmsg().  Returns how many, or a negative errno. */
int netlink_receive(struct netlink *netlink, int flags);

/*
 * Message `i` of those that were received last, aligned for 32-bit numbers; NULL when it is cut or
 * not from the kernel.
 */
const void *netlink_message(const struct netlink *netlink, int i, size_t *ret_length);

/* Waits until there is something to receive; false when nothing came in time. */
bool netlink_wait(const struct netlink *netlink, int timeout_ms);

#endif
