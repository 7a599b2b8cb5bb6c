/* SPDX-License-Identifier: MIT */
#include "record/socket/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "base/output/memory_stream.h"
#include "model/record/anomaly.h"
#include "model/record/life_event.h"
#include "record/socket/server_client.h"
#include "record/socket/server_request.h"
#include "render/record/record_json.h"

/* After an answer the server rests so many times as long as it took: others have work, too. */
#define REST_FACTOR 4

static void disconnect(struct connection *connection)
{
	loop_remove_fd(connection->server->loop, &connection->input);
	loop_remove_fd(connection->server->loop, &connection->output);
	close_fd(&connection->fd);
	close_fd(&connection->output_fd);
	connection_close_file(connection);
	text_free(&connection->request);
	text_free(&connection->backlog);
	connection->request = connection->backlog = (struct text){ 0 };
	connection->sent = 0;
	connection->streams = connection->is_lost = connection->has_left = false;
}

static bool is_answerable(const struct connection *connection)
{
	return connection->fd >= 0 && !connection->backlog.length &&
	       connection_has_line(connection);
}

/* Strangers do not make root wait, however much they ask. */
static uint64_t *rest_of(const struct connection *connection)
{
	return &connection->server->rest_end_ns[connection->client.sees_all];
}

static void plan_answer(const struct connection *connection)
{
	struct loop_timer *due = &connection->server->work_due;

	if (is_answerable(connection) && *rest_of(connection) < due->deadline_ns)
		due->deadline_ns = *rest_of(connection);
}

/*
 * Decides what to wait for.  A client whose request is not answered yet, or who has not read the
 * answer, is not read from: so it can neither queue work nor fill memory.
 */
void server_settle(struct connection *connection)
{
	struct server *server = connection->server;

	if (connection->is_lost) {
		server->dropped += !connection->has_left;
		disconnect(connection);
		return;
	}
	if (connection->backlog.length)
		(void)loop_add_fd(server->loop, &connection->output, connection->output_fd,
				  EPOLLOUT);
	else
		loop_remove_fd(server->loop, &connection->output);
	if (connection->backlog.length || connection_has_line(connection))
		loop_remove_fd(server->loop, &connection->input);
	else
		(void)loop_add_fd(server->loop, &connection->input, connection->fd, EPOLLIN);
	plan_answer(connection);
}

static void take_room(void *context)
{
	struct connection *connection = context;

	connection_flush(connection);
	server_settle(connection);
}

/* What waits to be read by all clients together. */
static size_t waiting_bytes(const struct server *server)
{
	size_t bytes = 0;

	for (size_t i = 0; i < SERVER_CLIENTS; i++)
		bytes += server->connections[i].backlog.length - server->connections[i].sent;
	return bytes;
}

static const struct server_method *find_method(const struct server *server, const char *name)
{
	for (const struct server_method *method = server->methods; method->name; method++)
		if (strcmp(method->name, name) == 0)
			return method;
	return NULL;
}

static void send_error(struct connection *connection, const char *id, const char *sentence)
{
	CLEANUP(free_pointer) char *reply = NULL;
	size_t length = 0;
	FILE *out = memory_stream_open(&reply, &length);
	struct json json;

	if (!out)
		return;
	fprintf(out, "{\"id\":%s,\"error\":", id);
	json = json_writer(out);
	json.one_line = true;
	json_string(&json, sentence);
	fputs("}\n", out);
	if (fclose(out) == 0)
		connection_send(connection, reply, length);
}

/* Prints the reply, with room for its end.  0, or a negative errno with a sentence. */
static int print_reply(struct connection *connection, const struct server_method *method,
		       const struct server_request *request, FILE *out, struct error *error)
{
	int status;

	fprintf(out, "{\"id\":%s,\"result\":", server_request_id(request));
	status = method->answer(connection->server->context, &connection->client, request, out,
				error);
	fputs("\n\n", out);
	return status;
}

/* The result may end with a newline of its own. */
static size_t end_reply(char *reply, size_t length)
{
	while (reply[length - 1] == '\n')
		length--;
	reply[length++] = '}';
	reply[length++] = '\n';
	return length;
}

static void answer(struct connection *connection, const struct server_method *method,
		   const struct server_request *request)
{
	CLEANUP(free_pointer) char *reply = NULL;
	struct error error = { 0 };
	size_t length = 0;
	size_t most = connection->client.sees_all ? SERVER_ANSWER_BYTES : SERVER_WAITING_BYTES;
	FILE *out = memory_stream_open_limited(&reply, &length, most);
	int status = out ? print_reply(connection, method, request, out, &error) : -ENOMEM;

	if (out && fclose(out) != 0)
		status = error_set(&error, -ENOMEM,
				   "the answer is longer than %zu bytes, or memory ran out", most);
	if (status == 0 && !connection->client.sees_all &&
	    waiting_bytes(connection->server) + length > SERVER_WAITING_BYTES)
		status = error_set(&error, -ENOBUFS, "the answer is too long for now: %zu bytes",
				   length);
	if (status < 0) {
		send_error(connection, server_request_id(request),
			   error.message[0] ? error.message : strerror(-status));
		return;
	}
	connection->streams |= method->streams;
	connection_send(connection, reply, end_reply(reply, length));
}

static void refuse_method(struct connection *connection, const char *id)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	const struct server_method *methods = connection->server->methods;

	text_append_string(&sentence, "there is no such method; there are ");
	for (size_t i = 0; methods[i].name; i++)
		text_format(&sentence, "%s%s",
			    i == 0		? "" :
			    methods[i + 1].name ? ", " :
						  " and ",
			    methods[i].name);
	send_error(connection, id, text_string(&sentence));
}

static void take_request(struct connection *connection, const char *line, size_t length)
{
	struct server_request *request = NULL;
	const struct server_method *method;

	if (server_request_parse(line, length, &request) < 0) {
		send_error(connection, "null",
			   "a request is one line with a JSON object that has a method");
		return;
	}
	method = find_method(connection->server, server_request_method(request));
	if (method)
		answer(connection, method, request);
	else
		refuse_method(connection, server_request_id(request));
	server_request_free(request);
}

static void take_input(void *context)
{
	struct connection *connection = context;

	if (connection_receive(connection))
		server_settle(connection);
	else
		disconnect(connection);
}

/* The next client, in turn, whose request can be answered; NULL when there is none. */
static struct connection *find_answerable(struct server *server)
{
	uint64_t now_ns = monotonic_ns();

	for (size_t i = 1; i <= SERVER_CLIENTS; i++) {
		struct connection *connection =
			&server->connections[(server->turn + i) % SERVER_CLIENTS];

		if (is_answerable(connection) && *rest_of(connection) <= now_ns)
			return connection;
	}
	return NULL;
}

/* Strangers pay for all that the recorder waits for meanwhile: it measures nobody then. */
static void answer_next(struct connection *connection)
{
	clockid_t clock = connection->client.sees_all ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	uint64_t begin_ns = clock_ns(clock), *rest_end_ns = rest_of(connection);
	size_t length;
	char *line = connection_line(connection, &length);

	if (line) {
		take_request(connection, line, length);
		connection_close_file(connection);
	}
	free(line);
	*rest_end_ns = monotonic_ns() + REST_FACTOR * (clock_ns(clock) - begin_ns);
	connection->server->turn = (size_t)(connection - connection->server->connections);
	server_settle(connection);
}

/*
 * Answers one request, then rests: however many clients ask however much, the recorder has most of
 * its time for other things.
 */
static void work(void *context)
{
	struct server *server = context;
	struct connection *connection = find_answerable(server);

	if (connection)
		answer_next(connection);
	for (size_t i = 0; i < SERVER_CLIENTS; i++)
		plan_answer(&server->connections[i]);
}

static int connect_client(struct server *server, struct connection *connection, int fd,
			  const struct server_client *client)
{
	int status;

	connection->client = *client;
	connection->output_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (connection->output_fd < 0)
		return -errno;
	connection->input = (struct loop_fd){ .ready = take_input, .context = connection };
	connection->output = (struct loop_fd){ .ready = take_room, .context = connection };
	connection->fd = fd;
	status = loop_add_fd(server->loop, &connection->input, fd, EPOLLIN);
	if (status < 0) {
		connection->fd = -1; /* it is the caller's */
		disconnect(connection);
	}
	return status;
}

/* A free place for the client; NULL with a sentence when it, or all together, have too many. */
static struct connection *find_place(struct server *server, const struct server_client *client,
				     const char **ret_reason)
{
	struct connection *place = NULL;
	size_t own = 0, strangers = 0;

	for (size_t i = 0; i < SERVER_CLIENTS; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->fd < 0)
			place = connection;
		else if (!connection->client.sees_all)
			strangers++;
		own += connection->fd >= 0 && connection->client.uid == client->uid;
	}
	*ret_reason = "the recorder has too many clients; try again later";
	if (client->sees_all)
		return place;
	if (own >= SERVER_CLIENTS_PER_USER) {
		*ret_reason = "you have too many connections to the recorder; close one";
		return NULL;
	}
	return strangers < SERVER_CLIENTS - SERVER_CLIENTS_KEPT ? place : NULL;
}

/* The socket is new, so that the sentence fits into it. */
static void refuse(struct server *server, int fd, const char *reason)
{
	server->refused++;
	(void)!dprintf(fd, "{\"id\":null,\"error\":\"%s\"}\n", reason);
	close(fd);
}

static void take_client(void *context)
{
	struct server *server = context;
	int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection = NULL;
	const char *reason = "the recorder cannot serve you";
	struct server_client client;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (fd < 0) {
		/* Without descriptors it would be tried for ever; the next sample tries again. */
		if (errno == EMFILE || errno == ENFILE)
			loop_remove_fd(server->loop, &server->arrival);
		return;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
		client = (struct server_client){
			.uid = peer.uid,
			.pid = peer.pid,
			.file = -1,
			.sees_all = peer.uid == 0 || peer.uid == geteuid(),
		};
		connection = find_place(server, &client, &reason);
	}
	if (!connection || connect_client(server, connection, fd, &client) < 0)
		refuse(server, fd, reason);
}

int server_open(struct loop *loop, const char *path, const struct server_method *methods,
		void *context, struct server **ret, struct error *error)
{
	struct server *server = calloc(1, sizeof(*server));
	int status;

	if (!server)
		return error_set(error, -ENOMEM, "out of memory");
	server->loop = loop;
	server->methods = methods;
	server->context = context;
	server->fd = -1;
	server->address.sun_family = AF_UNIX;
	for (size_t i = 0; i < SERVER_CLIENTS; i++)
		server->connections[i] = (struct connection){
			.server = server, .fd = -1, .output_fd = -1, .client.file = -1
		};
	if (strlen(path) >= sizeof(server->address.sun_path)) {
		free(server);
		return error_set(error, -ENAMETOOLONG, "the name of the socket is too long: '%s'",
				 path);
	}
	memcpy(server->address.sun_path, path, strlen(path) + 1);
	server->work_due =
		(struct loop_timer){ .due = work, .context = server, .deadline_ns = LOOP_NEVER };
	server->arrival = (struct loop_fd){ .ready = take_client, .context = server };
	status = server_listen(&server->address, &server->fd);
	if (status == 0)
		status = loop_add_fd(loop, &server->arrival, server->fd, EPOLLIN);
	if (status < 0) {
		server_close(server);
		return error_set(error, status, "cannot listen at '%s': %s%s", path,
				 strerror(-status),
				 status == -EADDRINUSE ? ": another recorder answers there; "
							 "--no-socket does without" :
							 "");
	}
	loop_add_timer(loop, &server->work_due);
	*ret = server;
	return 0;
}

void server_close(struct server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < SERVER_CLIENTS; i++)
		if (server->connections[i].fd >= 0)
			disconnect(&server->connections[i]);
	loop_remove_timer(server->loop, &server->work_due);
	if (server->fd >= 0) {
		loop_remove_fd(server->loop, &server->arrival);
		unlink(server->address.sun_path);
		close_fd(&server->fd);
	}
	free(server);
}

uint64_t server_dropped(const struct server *server)
{
	return server->dropped + server->refused;
}
