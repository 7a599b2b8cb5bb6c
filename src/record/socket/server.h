/* SPDX-License-Identifier: MIT */
/*
 * The recorder's socket: a Unix socket with JSON lines.  A client sends requests
 *
 *	{"id": 1, "method": "latest", "params": {}}
 *
 * and gets {"id": 1, "result": ...} or {"id": 1, "error": "..."} for each.  After "stream", events,
 * anomalies and samples of the host follow as lines of their own, with the key "kind".
 *
 * Clients are strangers: their credentials come from the kernel, messages and their number are
 * limited, and a client that does not read is dropped and counted.  Other users see command lines
 * only of their own processes.  Requests are answered one by one, of each client in turn, with
 * rests in between: strangers together take at most a fifth of the recorder's time, root and the user
 * who records at most a fifth of one core.
 */
#ifndef RECORD_SERVER_H
#define RECORD_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct anomaly;
struct error;
struct host_sample;
struct life_event;
struct loop;
struct server;
struct server_request;

#define SERVER_CLIENTS 64
/* Connections of one user who is neither root nor the recorder's; as many places are kept for those two. */
#define SERVER_CLIENTS_PER_USER 8
#define SERVER_CLIENTS_KEPT 16
#define SERVER_REQUEST_BYTES (64 * 1024)
/* What may wait for a client that streams to read it; then the client is dropped. */
#define SERVER_BACKLOG_BYTES ((size_t)4 * 1024 * 1024)
/* A client that takes nothing for so long of what waits for it is dropped. */
#define SERVER_PATIENCE_NS (UINT64_C(10) * 1000000000)
/* What may wait for all clients together; then other users get no answer. */
#define SERVER_WAITING_BYTES ((size_t)16 * 1024 * 1024)
/* An answer to root, or to the user who records, is at most so long. */
#define SERVER_ANSWER_BYTES ((size_t)48 * 1024 * 1024)

struct server_client {
	uid_t uid;
	pid_t pid;     /* who connected; 0: not known here */
	bool sees_all; /* root, or the user that records */
	int file;      /* one that came with the request; -1: none */
};

/*
 * A method.  Prints the result as one JSON value on one line, or returns a negative errno with a
 * sentence.
 */
struct server_method {
	const char *name;
	int (*answer)(void *context, const struct server_client *client,
		      const struct server_request *request, FILE *out, struct error *error);
	bool streams; /* from then on the client gets lines */
};

/*
 * Listens.  The methods end with one without a name; "stream" is one of them.  A socket that
 * nobody listens at is replaced; -EADDRINUSE when somebody does.
 */
int server_open(struct loop *loop, const char *path, const struct server_method *methods,
		void *context, struct server **ret, struct error *error);
void server_close(struct server *server); /* NULL is allowed */

/* Send a line to each client that streams.  A NULL server has none. */
void server_publish_event(struct server *server, const struct life_event *event);
void server_publish_anomaly(struct server *server, const struct anomaly *anomaly);
void server_publish_sample(struct server *server, const struct host_sample *sample);

/* Clients that were dropped because they did not read, and connections that were refused. */
uint64_t server_dropped(const struct server *server);

#endif
