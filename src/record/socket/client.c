/* SPDX-License-Identifier: MIT */
#include "record/socket/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "store/json_parse.h"

#define LINE_MOST ((size_t)64 << 20)
#define READ_SIZE 65536
/* A recorder that is stopped or hangs must not keep a job from running. */
#define PATIENCE_S 10

static int failed(struct error *error, int status)
{
	if (status == -EAGAIN)
		return error_set(error, -ETIMEDOUT,
				 "the recorder has not answered for %d s: it is stopped or hangs",
				 PATIENCE_S);
	return error_set(error, status, "cannot ask the recorder: %s", strerror(-status));
}

/* For how long nothing may happen: SO_SNDTIMEO, which connecting heeds, too, or SO_RCVTIMEO. */
static void limit(int socket, int which, time_t seconds)
{
	const struct timeval time = { .tv_sec = seconds };

	(void)setsockopt(socket, SOL_SOCKET, which, &time, sizeof(time));
}

int client_open(struct client *ret, const char *path, struct error *error)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int status;

	*ret = (struct client){ .fd = -1 };
	if (strlen(path) >= sizeof(address.sun_path))
		return failed(error, -ENAMETOOLONG);
	memcpy(address.sun_path, path, strlen(path) + 1);
	ret->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ret->fd < 0)
		return failed(error, -errno);
	limit(ret->fd, SO_SNDTIMEO, PATIENCE_S);
	if (connect(ret->fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	status = -errno;
	close_fd(&ret->fd);
	if (status == -EAGAIN)
		return failed(error, status);
	return status == -ENOENT || status == -ECONNREFUSED ?
		       status :
		       error_set(error, status, "cannot connect to the recorder at '%s': %s", path,
				 strerror(-status));
}

void client_close(struct client *client)
{
	close_fd(&client->fd);
	free(client->bytes);
	client->bytes = NULL;
}

/* The file goes with the first byte. */
static ssize_t send_some(int socket, const char *bytes, size_t length, int file)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec part = { (void *)bytes, length };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file >= 0) {
		memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.room);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL);
}

int client_ask_with(struct client *client, const char *method, const char *parameters, int file,
		    struct error *error)
{
	CLEANUP(text_free) struct text request = { 0 };
	size_t sent = 0;

	text_format(&request, "{\"id\":1,\"method\":\"%s\"%s%s}\n", method,
		    parameters ? ",\"params\":" : "", parameters ? parameters : "");
	if (request.failed)
		return failed(error, -ENOMEM);
	while (sent < request.length) {
		ssize_t some = send_some(client->fd, request.data + sent, request.length - sent,
					 sent ? -1 : file);

		if (some < 0 && errno == EINTR)
			continue;
		if (some < 0)
			return failed(error, -errno);
		sent += (size_t)some;
	}
	return 0;
}

int client_ask(struct client *client, const char *method, struct error *error)
{
	return client_ask_with(client, method, NULL, -1, error);
}

static int receive(struct client *client)
{
	ssize_t got;

	if (client->capacity - client->length < READ_SIZE) {
		size_t capacity = client->capacity ? client->capacity * 2 : 2 * READ_SIZE;
		char *bytes = capacity > LINE_MOST ? NULL : realloc(client->bytes, capacity);

		if (!bytes)
			return -ENOMEM;
		client->bytes = bytes;
		client->capacity = capacity;
	}
	do
		got = recv(client->fd, client->bytes + client->length, READ_SIZE, 0);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : -ENODATA;
	client->length += (size_t)got;
	return 0;
}

/* Lines are taken off the front; the caller has used the one before. */
int client_next(struct client *client, const char **ret, size_t *ret_length, struct error *error)
{
	char *end;
	int status;

	client->length -= client->taken;
	if (client->taken)
		memmove(client->bytes, client->bytes + client->taken, client->length);
	client->taken = 0;
	while (!(end = client->length ? memchr(client->bytes, '\n', client->length) : NULL)) {
		status = receive(client);
		if (status == -ENODATA)
			return status;
		if (status < 0)
			return failed(error, status);
	}
	*ret = client->bytes;
	*ret_length = (size_t)(end - client->bytes);
	client->taken = *ret_length + 1;
	*end = '\0';
	return 0;
}

/* What the recorder wrote is for people, but comes from another process. */
static int refused(const char *line, size_t length, struct error *error)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	json_t *reply = NULL;
	const char *words = NULL;
	json_error_t why;

	if (json_parse(line, length, 0, &reply, &why) == 0)
		words = json_string_value(json_object_get(reply, "error"));
	if (words)
		text_append_escaped(&sentence, words, strlen(words));
	json_decref(reply);
	return error_set(error, -EBADMSG, "%s%s",
			 words ? "the recorder refused: " : "the recorder answered nonsense",
			 text_string(&sentence));
}

/* The only request has the id 1. */
static const char answer_head[] = "{\"id\":1,\"result\":";

int client_answer(struct client *client, const char **ret, size_t *ret_length, struct error *error)
{
	size_t head = sizeof(answer_head) - 1, length = 0;
	const char *line = NULL;
	int status;

	limit(client->fd, SO_RCVTIMEO, PATIENCE_S);
	status = client_next(client, &line, &length, error);
	/* What comes after the answer is a stream, which may be silent for long. */
	limit(client->fd, SO_RCVTIMEO, 0);
	if (status < 0)
		return error_set(error, status, "the recorder ended before it answered");
	if (length <= head || strncmp(line, answer_head, head) != 0)
		return refused(line, length, error);
	*ret = line + head;
	*ret_length = length - head - 1;
	return 0;
}
