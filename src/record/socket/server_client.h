/* SPDX-License-Identifier: MIT */
/*
 * What the files of the server share: connections, with lines that arrive and bytes that wait to be
 * read by the other side, and how the socket is made.  Private to the server.
 */
#ifndef RECORD_SERVER_CLIENT_H
#define RECORD_SERVER_CLIENT_H

#include <sys/un.h>

#include "base/loop.h"
#include "base/text.h"
#include "record/socket/server.h"

struct connection {
	struct server *server;
	int fd; /* -1: this place is free */
	struct loop_fd input, output;
	int output_fd; /* a duplicate: a descriptor can be watched once only */
	struct server_client client;
	struct text request; /* the line that is arriving */
	struct text backlog; /* what the client has not read yet */
	size_t sent;	     /* of the backlog */
	uint64_t taken_ns;   /* when the client last took some of it; CLOCK_MONOTONIC */
	bool streams;
	bool is_lost;  /* to be closed: it did not read, or broke the rules */
	bool has_left; /* to be closed: the other side did */
};

struct server {
	bool refuses_files; /* of strangers: the file system of one did not let us close it */
	struct loop *loop;
	const struct server_method *methods;
	void *context;
	struct sockaddr_un address;
	int fd;
	struct loop_fd arrival;
	struct loop_timer work_due; /* when the next request may be answered */
	uint64_t rest_end_ns[2];    /* of strangers, and of those who see all */
	size_t turn; /* the connection that was answered last */
	struct connection connections[SERVER_CLIENTS];
	uint64_t dropped, refused;
};

/*
 * Makes the socket: mode 0660, of the group taskscope where there is one.  One that nobody listens
 * at is replaced if it is ours.  0 and a descriptor; -EADDRINUSE when somebody listens there,
 * -EEXIST when something else is in the way, or another negative errno.
 */
int server_listen(const struct sockaddr_un *address, int *ret);

/* Call it after receiving or sending: decides what to wait for, and drops who is lost. */
void server_settle(struct connection *connection);

/*
 * Appends bytes to what the client is to read, and sends what it takes.  It never waits.  A client
 * that has not read what came before, and would have too much to read then, is lost.
 */
void connection_send(struct connection *connection, const char *bytes, size_t length);

/* Closes the file that came with a request, if any.  It waits for no file system for long. */
void connection_close_file(struct connection *connection);

/* Sends as much of the backlog as the client takes. */
void connection_flush(struct connection *connection);

/* Reads what arrived.  False when the other side is gone, or its line is too long. */
bool connection_receive(struct connection *connection);

/* Whether a whole line has arrived. */
bool connection_has_line(const struct connection *connection);

/* Takes the next whole line off the request; NULL when there is none.  The caller frees it. */
char *connection_line(struct connection *connection, size_t *ret_length);

#endif
