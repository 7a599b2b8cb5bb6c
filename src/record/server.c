/* SPDX-License-Identifier: MIT */
#include "record/server.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "model/record/anomaly.h"
#include "model/record/life_event.h"
#include "record/server_client.h"
#include "record/server_request.h"
#include "render/record/record_json.h"

#define SOCKET_GROUP "taskscope"
#define LISTEN_BACKLOG 16

struct server {
	struct loop *loop;
	const struct server_method *methods;
	void *context;
	struct sockaddr_un address;
	int fd;
	struct loop_fd arrival;
	struct connection connections[SERVER_CLIENTS];
	uint64_t dropped, refused;
};

static void disconnect(struct connection *connection)
{
	loop_remove_fd(connection->server->loop, &connection->input);
	loop_remove_fd(connection->server->loop, &connection->output);
	close_fd(&connection->fd);
	close_fd(&connection->output_fd);
	text_free(&connection->request);
	text_free(&connection->backlog);
	connection->request = connection->backlog = (struct text){ 0 };
	connection->sent = 0;
	connection->streams = connection->is_lost = false;
}

/* After sending: waits for room where something is left, and drops who does not read. */
static void settle_output(struct connection *connection)
{
	struct server *server = connection->server;

	if (connection->is_lost) {
		server->dropped++;
		disconnect(connection);
	} else if (connection->backlog.length) {
		(void)loop_add_fd(server->loop, &connection->output, connection->output_fd,
				  EPOLLOUT);
	} else {
		loop_remove_fd(server->loop, &connection->output);
	}
}

static void take_room(void *context)
{
	struct connection *connection = context;

	connection_flush(connection);
	settle_output(connection);
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
	FILE *out = open_memstream(&reply, &length);
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

static void answer(struct connection *connection, const struct server_method *method,
		   const struct server_request *request)
{
	CLEANUP(free_pointer) char *result = NULL;
	CLEANUP(text_free) struct text reply = { 0 };
	struct error error = { 0 };
	size_t length = 0;
	FILE *out = open_memstream(&result, &length);
	int status;

	if (!out)
		return;
	status = method->answer(connection->server->context, &connection->client, request, out,
				&error);
	if (fclose(out) != 0)
		status = -ENOMEM;
	if (status < 0) {
		send_error(connection, server_request_id(request),
			   error.message[0] ? error.message : strerror(-status));
		return;
	}
	text_format(&reply, "{\"id\":%s,\"result\":", server_request_id(request));
	text_append(&reply, result, length && result[length - 1] == '\n' ? length - 1 : length);
	text_append_string(&reply, "}\n");
	connection->streams |= method->streams;
	connection->is_lost |= reply.failed;
	connection_send(connection, text_string(&reply), reply.length);
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
		send_error(connection, server_request_id(request),
			   "there is no such method; there are latest, stream, events and context");
	server_request_free(request);
}

static void take_input(void *context)
{
	struct connection *connection = context;
	size_t length;
	char *line;

	if (!connection_receive(connection)) {
		disconnect(connection);
		return;
	}
	while (!connection->is_lost && (line = connection_line(connection, &length))) {
		take_request(connection, line, length);
		free(line);
	}
	settle_output(connection);
}

static int connect_client(struct server *server, struct connection *connection, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int status;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	connection->client = (struct server_client){
		.uid = peer.uid,
		.sees_all = peer.uid == 0 || peer.uid == geteuid(),
	};
	connection->output_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (connection->output_fd < 0)
		return -errno;
	connection->input = (struct loop_fd){ .ready = take_input, .context = connection };
	connection->output = (struct loop_fd){ .ready = take_room, .context = connection };
	connection->fd = fd;
	status = loop_add_fd(server->loop, &connection->input, fd, EPOLLIN);
	if (status < 0)
		disconnect(connection);
	return status;
}

static struct connection *free_connection(struct server *server)
{
	for (size_t i = 0; i < SERVER_CLIENTS; i++)
		if (server->connections[i].fd < 0)
			return &server->connections[i];
	return NULL;
}

static void take_client(void *context)
{
	struct server *server = context;
	int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct connection *connection = fd < 0 ? NULL : free_connection(server);

	if (fd < 0)
		return;
	if (connection && connect_client(server, connection, fd) == 0)
		return;
	server->refused++;
	if (!connection || connection->fd < 0)
		close(fd);
}

/* A socket that nobody listens at any more is in the way; it is removed only if it is ours. */
static int make_way(const struct sockaddr_un *address)
{
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat file;

	if (fd < 0)
		return -errno;
	if (lstat(address->sun_path, &file) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(file.st_mode) || file.st_uid != geteuid())
		return -EEXIST;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

/* Members of the group may connect, too; the kernel says who they are. */
static void share_with_group(const char *path)
{
	const struct group *group = getgrnam(SOCKET_GROUP);

	if (group && lchown(path, (uid_t)-1, group->gr_gid) < 0)
		return;
	/* Who can write to the directory may have put a link in its place. */
	(void)!fchmodat(AT_FDCWD, path, 0660, AT_SYMLINK_NOFOLLOW);
}

static int make_folder(const char *path)
{
	CLEANUP(free_pointer) char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return -ENOMEM;
	if (!slash || slash == folder)
		return 0;
	*slash = '\0';
	return mkdir(folder, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int listen_at(struct server *server)
{
	int status = make_folder(server->address.sun_path);
	mode_t mask;

	if (status == 0)
		status = make_way(&server->address);
	if (status < 0)
		return status;
	server->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd < 0)
		return -errno;
	mask = umask(0177);
	status = bind(server->fd, (const struct sockaddr *)&server->address,
		      sizeof(server->address)) < 0 ?
			 -errno :
			 0;
	umask(mask);
	if (status < 0) {
		close_fd(&server->fd);
		return status;
	}
	share_with_group(server->address.sun_path);
	if (listen(server->fd, LISTEN_BACKLOG) < 0)
		return -errno;
	server->arrival = (struct loop_fd){ .ready = take_client, .context = server };
	return loop_add_fd(server->loop, &server->arrival, server->fd, EPOLLIN);
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
		server->connections[i] =
			(struct connection){ .server = server, .fd = -1, .output_fd = -1 };
	if (strlen(path) >= sizeof(server->address.sun_path)) {
		free(server);
		return error_set(error, -ENAMETOOLONG, "the name of the socket is too long: '%s'",
				 path);
	}
	memcpy(server->address.sun_path, path, strlen(path) + 1);
	status = listen_at(server);
	if (status < 0) {
		server_close(server);
		return error_set(error, status, "cannot listen at '%s': %s%s", path,
				 strerror(-status),
				 status == -EADDRINUSE ? ": another recorder does" : "");
	}
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

/* A line in two forms: with command lines, and without. */
struct published {
	uint32_t uid;
	bool has_uid;
	void (*write)(struct json *json, const void *item, bool shows_command);
	const void *item;
};

static void publish(struct server *server, const struct published *published)
{
	char *lines[2] = { NULL, NULL };
	size_t lengths[2] = { 0 };

	for (size_t i = 0; server && i < SERVER_CLIENTS; i++) {
		struct connection *connection = &server->connections[i];
		const struct server_client *client = &connection->client;
		bool shows =
			client->sees_all || (published->has_uid && published->uid == client->uid);

		if (connection->fd < 0 || !connection->streams)
			continue;
		if (!lines[shows]) {
			FILE *out = open_memstream(&lines[shows], &lengths[shows]);
			struct json json = json_line_writer(out);

			if (!out)
				break;
			published->write(&json, published->item, shows);
			if (fclose(out) != 0)
				break;
		}
		connection_send(connection, lines[shows], lengths[shows]);
		settle_output(connection);
	}
	free(lines[0]);
	free(lines[1]);
}

static void write_event(struct json *json, const void *item, bool shows_command)
{
	life_event_json(json, item, shows_command);
}

static void write_anomaly(struct json *json, const void *item, bool shows_command)
{
	(void)shows_command;
	anomaly_json(json, item);
}

static void write_sample(struct json *json, const void *item, bool shows_command)
{
	(void)shows_command;
	host_sample_json(json, item);
}

void server_publish_event(struct server *server, const struct life_event *event)
{
	publish(server, &(struct published){ event->uid, event->present & LIFE_HAS_UID, write_event,
					     event });
}

void server_publish_anomaly(struct server *server, const struct anomaly *anomaly)
{
	publish(server, &(struct published){ .write = write_anomaly, .item = anomaly });
}

void server_publish_sample(struct server *server, const struct host_sample *sample)
{
	publish(server, &(struct published){ .write = write_sample, .item = sample });
}
