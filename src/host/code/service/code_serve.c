/* SPDX-License-Identifier: MIT */
#include "host/code/service/code_serve.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "host/code/service/code_protocol.h"

/* A row for each kind of question. */
static code_server *const servers[CODE_QUESTION_KINDS] = {
	[CODE_ASK_FILE] = serve_file,
	[CODE_ASK_RULES] = serve_rules,
	[CODE_ASK_DEBUG_LINK] = serve_debug_link,
	[CODE_ASK_NAME] = serve_name,
	[CODE_FORGET_NAMES] = serve_forget_names,
};

struct service {
	int socket;
	struct served_file *files[CODE_FILES_MAX]; /* by number */
	struct code_answer answer;
};

/* Keys that end a program at a terminal reach this process too, but we end it. */
static void ignore_keys(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGHUP, SIGTERM };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
}

static int fd_of(struct msghdr *message)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);
	int fd = -1;

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
	    control->cmsg_len == CMSG_LEN(sizeof(fd)))
		memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

/* 1 when there was a question, 0 at the end. */
static int receive(int socket, struct code_question *question, int *ret_fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct iovec bytes = { question, sizeof(*question) };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t got;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got < 0 ? -errno : 0;
	*ret_fd = fd_of(&message);
	return got == (ssize_t)sizeof(*question) ? 1 : -EPROTO;
}

/* A file that is sent again takes the place of the one with its number. */
static int take_file(struct service *service, uint32_t number, int *fd)
{
	served_file_free(service->files[number]);
	service->files[number] = NULL;
	return served_file_new(TAKE_FD(*fd), &service->files[number]);
}

static int serve(struct service *service, const struct code_question *question, int *fd)
{
	int status = 0;

	if (question->file >= CODE_FILES_MAX || question->kind >= CODE_QUESTION_KINDS)
		return -EINVAL;
	if (*fd >= 0 && question->kind != CODE_OFFER_DEBUG_FILE)
		status = take_file(service, question->file, fd);
	if (status < 0)
		return status;
	if (!service->files[question->file])
		return -EBADF;
	if (question->kind == CODE_OFFER_DEBUG_FILE)
		return serve_debug_file(service->files[question->file], question, *fd);
	return servers[question->kind](service->files[question->file], question, &service->answer);
}

static int serve_next(struct service *service)
{
	CLEANUP(close_fd) int fd = -1;
	struct code_answer *answer = &service->answer;
	size_t size = offsetof(struct code_answer, bytes);
	struct code_question question;
	int status = receive(service->socket, &question, &fd);

	if (status <= 0)
		return status;
	answer->number = question.number;
	status = serve(service, &question, &fd);
	answer->status = status < 0 ? status : 0;
	size += status < 0 ? 0 : (size_t)status;
	return write(service->socket, answer, size) == (ssize_t)size ? 1 : -EPIPE;
}

int code_serve(void *socket, int answer)
{
	struct service *service = calloc(1, sizeof(*service));
	int status;

	(void)answer;
	if (!service)
		return -ENOMEM;
	ignore_keys();
	service->socket = *(int *)socket;
	do
		status = serve_next(service);
	while (status > 0);
	for (size_t i = 0; i < CODE_FILES_MAX; i++)
		served_file_free(service->files[i]);
	free(service);
	return status;
}
