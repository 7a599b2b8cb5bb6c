/* SPDX-License-Identifier: MIT */
/*
 * Receives events of the kernel's process connector: forks, execs, exits.
 *
 * It works only in the host's own PID, user and network namespaces, and needs CAP_NET_ADMIN. The
 * kernel numbers the events of each CPU, so dropped events are counted exactly once the next event
 * of that CPU arrives.
 *
 * A socket may be used from one thread only.
 */
#ifndef TRACE_CONNECTOR_SOCKET_H
#define TRACE_CONNECTOR_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "trace/connector/connector_parse.h"

#define CONNECTOR_BATCH 128

struct connector_socket;
struct error;

/* Returns 0 and a socket that already collects events, or a negative errno and a sentence. */
int connector_socket_open(struct connector_socket **ret, struct error *error);
void connector_socket_close(struct connector_socket *socket); /* NULL is allowed */
CLEANUP_POINTER(connector_socket_close, struct connector_socket)

/* Readable when there are events. */
int connector_socket_fd(const struct connector_socket *socket);

/*
 * Gives the events that have arrived, in order, without waiting.  Returns how many (0: none left),
 * -ENOBUFS when the kernel dropped events since the last call (continue to read), or another
 * negative errno.
 */
int connector_socket_receive(struct connector_socket *socket,
			     struct connector_event events[CONNECTOR_BATCH]);

/* How many events were dropped, as far as known. */
uint64_t connector_socket_lost(const struct connector_socket *socket);

#endif
