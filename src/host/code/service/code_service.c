/* SPDX-License-Identifier: MIT */
#include "host/code/service/code_service.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/code/service/code_protocol.h"
#include "host/code/service/code_serve.h"
#include "host/confine/confine.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

#define OWN_BYTES ((uint64_t)512 << 20)
#define STATUS_BYTES 8192
/* Many times what a large program takes, so that a service that was taken over ends. */
#define CPU_SECONDS 120

static int make_sockets(int *ret_ours, int *ret_its)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	*ret_ours = ends[0];
	*ret_its = confined_move_up(ends[1]);
	return *ret_its < 0 ? *ret_its : 0;
}

/* It may have been ended while it had nothing to do, as when memory runs out; no file is to blame for that. */
static bool is_gone(const struct code_service *service)
{
	struct pollfd end = { .fd = service->socket };

	return poll(&end, 1, 0) > 0 && end.revents & (POLLHUP | POLLERR);
}

int code_service_start(struct code_service *service)
{
	CLEANUP(close_fd) int ours = -1;
	CLEANUP(close_fd) int its = -1;
	struct confine_limits limits = { .rules = CONFINE_SERVICE,
					 .own_bytes = OWN_BYTES,
					 .cpu_seconds = CPU_SECONDS,
					 .keep = &its,
					 .keep_count = 1 };
	struct confined_job job;
	int status;

	if (service->pid && is_gone(service))
		code_service_end(service);
	if (service->pid)
		return 0;
	if (service->starts == CODE_STARTS_MAX)
		return -EMFILE;
	status = make_sockets(&ours, &its);
	if (status == 0)
		status = confined_start(&job, &limits, 0, code_serve, &its);
	if (status < 0)
		return status;
	close(job.answer); /* it answers on the socket */
	service->pid = job.pid;
	service->socket = TAKE_FD(ours);
	service->starts++;
	return 0;
}

static uint64_t cpu_ns_of(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * NS_PER_SECOND + (uint64_t)used.tv_nsec;
}

static uint64_t peak_rss_of(int proc, pid_t pid)
{
	char path[64], text[STATUS_BYTES];
	uint64_t kib;

	snprintf(path, sizeof(path), "%ld/status", (long)pid);
	if (proc_read_start(proc, path, text, sizeof(text)) < 0 ||
	    !task_status_number(text, "VmHWM", &kib))
		return 0;
	return kib * 1024;
}

void code_service_usage(const struct code_service *service, uint64_t *ret_cpu_ns,
			uint64_t *ret_peak_rss_bytes)
{
	uint64_t peak = service->pid ? peak_rss_of(service->proc, service->pid) : 0;

	*ret_cpu_ns = service->cpu_ns + (service->pid ? cpu_ns_of(service->pid) : 0);
	*ret_peak_rss_bytes = peak > service->peak_rss_bytes ? peak : service->peak_rss_bytes;
}

void code_service_end(struct code_service *service)
{
	uint64_t cpu_ns, peak;

	if (!service->pid)
		return;
	code_service_usage(service, &cpu_ns, &peak);
	service->cpu_ns = cpu_ns;
	service->peak_rss_bytes = peak;
	confined_kill(service->pid);
	close_fd(&service->socket);
	service->pid = 0;
}

static int send_question(int socket, const struct code_question *question, int fd)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec bytes = { (void *)question, sizeof(*question) };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	struct cmsghdr *header;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* Waits until there is something to read, until the deadline: 0 or -ETIMEDOUT. */
static int wait_until(int socket, uint64_t deadline_ns)
{
	struct pollfd readable = { .fd = socket, .events = POLLIN };

	for (;;) {
		uint64_t now = monotonic_ns();
		int left_ms = now < deadline_ns ? (int)((deadline_ns - now) / NS_PER_MS) + 1 : 0;
		int ready = poll(&readable, 1, left_ms);

		if (ready > 0)
			return 0;
		if (ready == 0 && left_ms == 0)
			return -ETIMEDOUT;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
}

/* A service that others keep from the CPU may have some more time, but a busy one may not. */
static int wait_for_answer(const struct code_service *service)
{
	uint64_t limit_ns = service->answer_ms * NS_PER_MS;
	uint64_t before_ns = service->patience ? cpu_ns_of(service->pid) : 0;
	int status = wait_until(service->socket, monotonic_ns() + limit_ns);

	for (unsigned i = 0; i < service->patience && status == -ETIMEDOUT; i++) {
		if (cpu_ns_of(service->pid) - before_ns >= limit_ns)
			break;
		status = wait_until(service->socket, monotonic_ns() + limit_ns);
	}
	return status;
}

/* The number of bytes in the answer, or -EPROTO. */
static ssize_t receive_answer(int socket, const struct code_question *question,
			      struct code_answer *ret)
{
	const size_t head = offsetof(struct code_answer, bytes);
	ssize_t got = recv(socket, ret, sizeof(*ret), MSG_DONTWAIT | MSG_TRUNC);

	if (got < (ssize_t)head || got > (ssize_t)sizeof(*ret) || ret->number != question->number ||
	    ret->status > 0 || (ret->status < 0 && got > (ssize_t)head))
		return -EPROTO;
	return got - (ssize_t)head;
}

ssize_t code_service_ask(struct code_service *service, struct code_question *question, int fd,
			 struct code_answer *ret)
{
	ssize_t size = -EPROTO;
	int status;

	question->number = ++service->questions;
	status = send_question(service->socket, question, fd);
	if (status == 0)
		status = wait_for_answer(service);
	if (status == 0)
		size = receive_answer(service->socket, question, ret);
	if (size < 0) {
		code_service_end(service);
		return status == -ETIMEDOUT ? -ETIMEDOUT : -EPROTO;
	}
	return ret->status < 0 ? ret->status : size;
}
