/* SPDX-License-Identifier: MIT */
/*
 * One connection of the recorder's socket: lines that arrive, and bytes that wait to be read by the
 * other side.  Private to the server.
 */
#ifndef RECORD_SERVER_CLIENT_H
#define RECORD_SERVER_CLIENT_H

#include "base/loop.h"
#include "base/text.h"
#include "record/server.h"

struct connection {
	struct server *server;
	int fd; /* -1: this place is free */
	struct loop_fd input, output;
	int output_fd; /* a duplicate: a descriptor can be watched once only */
	struct server_client client;
	struct text request; /* the line that is arriving */
	struct text backlog; /* what the client has not read yet */
	size_t sent;	     /* of the backlog */
	bool streams;
	bool is_lost; /* to be closed: it did not read, or broke the rules */
};

/* Appends bytes to what the client is to read, and sends what it takes.  It never waits. */
void connection_send(struct connection *connection, const char *bytes, size_t length);

/* Sends as much of the backlog as the client takes. */
void connection_flush(struct connection *connection);

/* Reads what arrived.  False when the other side is gone, or its line is too long. */
bool connection_receive(struct connection *connection);

/* Takes the next whole line off the request; NULL when there is none.  The caller frees it. */
char *connection_line(struct connection *connection, size_t *ret_length);

#endif
