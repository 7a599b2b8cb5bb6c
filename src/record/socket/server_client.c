/* SPDX-License-Identifier: MIT */
#include "record/socket/server_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/deadline_run.h"

#define CLOSE_MS 100

void connection_flush(struct connection *connection)
{
	struct text *backlog = &connection->backlog;

	while (connection->sent < backlog->length) {
		ssize_t sent =
			send(connection->fd, backlog->data + connection->sent,
			     backlog->length - connection->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			connection->has_left |= errno == EPIPE || errno == ECONNRESET;
			connection->is_lost |= errno != EAGAIN;
			return;
		}
		connection->sent += (size_t)sent;
		connection->taken_ns = monotonic_ns();
	}
	/* Most of the time nothing waits, and then no memory is kept for it. */
	text_free(backlog);
	*backlog = (struct text){ 0 };
	connection->sent = 0;
}

/* Moves what is left to the front, before the buffer grows for ever. */
static void compact(struct connection *connection)
{
	struct text *backlog = &connection->backlog;

	if (connection->sent < backlog->length / 2)
		return;
	backlog->length -= connection->sent;
	memmove(backlog->data, backlog->data + connection->sent, backlog->length);
	connection->sent = 0;
}

void connection_send(struct connection *connection, const char *bytes, size_t length)
{
	struct text *backlog = &connection->backlog;

	if (connection->is_lost)
		return;
	if (backlog->length && backlog->length - connection->sent + length > SERVER_BACKLOG_BYTES) {
		connection->is_lost = true;
		return;
	}
	if (connection->sent)
		compact(connection);
	if (!backlog->length)
		connection->taken_ns = monotonic_ns();
	text_append(backlog, bytes, length);
	connection->is_lost |= backlog->failed;
	connection_flush(connection);
}

static void close_number(void *context)
{
	close((int)(intptr_t)context);
}

static void release_number(void *context)
{
	(void)context;
}

/*
 * To close a file asks its file system, which may be a program of the stranger that does not answer.
 * One thread may wait for it; then strangers bring no files any more.
 */
void connection_close_file(struct connection *connection)
{
	int file = connection->client.file;

	if (file < 0 || fcntl(file, F_GET_SEALS) >= 0) {
		close_fd(&connection->client.file);
		return;
	}
	connection->client.file = -1;
	if (deadline_run(close_number, release_number, (void *)(intptr_t)file, CLOSE_MS) < 0)
		connection->server->refuses_files = true;
}

/* Keeps the last file that came with the bytes. */
static void take_files(struct connection *connection, struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part;
	     part = CMSG_NXTHDR(message, part)) {
		size_t size = part->cmsg_len - CMSG_LEN(0);

		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= size; at += sizeof(int)) {
			connection_close_file(connection);
			memcpy(&connection->client.file, CMSG_DATA(part) + at, sizeof(int));
		}
	}
}

static ssize_t receive(struct connection *connection, char *bytes, size_t capacity)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { bytes, capacity };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control.room) };
	ssize_t got;

	/* Without room for them, the kernel drops files before they are ours. */
	if (connection->server->refuses_files && !connection->client.sees_all)
		message.msg_controllen = 0;
	got = recvmsg(connection->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	if (got >= 0)
		take_files(connection, &message);
	return got;
}

bool connection_receive(struct connection *connection)
{
	char bytes[4096];
	ssize_t got = receive(connection, bytes, sizeof(bytes));

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (got == 0 || connection->request.length + (size_t)got > SERVER_REQUEST_BYTES)
		return false;
	text_append(&connection->request, bytes, (size_t)got);
	return !connection->request.failed;
}

bool connection_has_line(const struct connection *connection)
{
	const struct text *request = &connection->request;

	return request->length && memchr(request->data, '\n', request->length);
}

char *connection_line(struct connection *connection, size_t *ret_length)
{
	struct text *request = &connection->request;
	char *end = request->length ? memchr(request->data, '\n', request->length) : NULL;
	size_t length = end ? (size_t)(end - request->data) : 0;
	char *line = end ? strndup(request->data, length) : NULL;

	if (!line)
		return NULL;
	request->length -= length + 1;
	memmove(request->data, end + 1, request->length);
	*ret_length = strlen(line);
	return line;
}
