/* SPDX-License-Identifier: MIT */
/*
 * Listens to the kernel's process connector.
 *
 * Only the first PID and user namespaces are served, and the first network namespace has the socket;
 * it takes CAP_NET_ADMIN.  The kernel numbers the events of each CPU, so what it had to drop is
 * counted exactly, as soon as the next event of that CPU arrives.
 *
 * One socket is for one thread.
 */
#ifndef TRACE_CONNECTOR_SOCKET_H
#define TRACE_CONNECTOR_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#include "trace/connector_parse.h"

#define CONNECTOR_BATCH 128

struct connector_socket;
struct error;

/* Returns 0 and a socket that has begun to collect, or a negative errno and a sentence. */
int connector_socket_open(struct connector_socket **ret, struct error *error);
void connector_socket_close(struct connector_socket *socket); /* NULL is allowed */
void connector_socket_close_pointer(struct connector_socket **socket);

/* Readable when there are events. */
int connector_socket_fd(const struct connector_socket *socket);

/*
 * What has arrived, in order; waits for nothing.  Returns how many (0: nothing is left), -ENOBUFS
 * when the kernel had to drop events since the last call (go on reading), or another negative errno.
 */
int connector_socket_receive(struct connector_socket *socket,
			     struct connector_event events[CONNECTOR_BATCH]);

/* Events that were dropped, as far as it is known by now. */
uint64_t connector_socket_lost(const struct connector_socket *socket);

#endif
