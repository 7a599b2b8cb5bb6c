/* SPDX-License-Identifier: MIT */
/*
 * Two processes that talk over loopback with every call that moves bytes of a socket.  Each prints
 * its number, and how many bytes it received and sent.  What is not of a network, and what is only
 * peeked at, is moved as well, and does not count.
 *
 *	traffic_workload [hold]		with "hold" both stay until standard input ends
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DATAGRAMS 3

static uint64_t received, sent;
static char bytes[100000];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static size_t checked(ssize_t result, const char *what)
{
	if (result < 0)
		fail(what);
	return (size_t)result;
}

#define SEND(call) (sent += checked(call, #call))
#define RECEIVE(call) (received += checked(call, #call))

static struct sockaddr_in any_port(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static int bound_socket(int type, struct sockaddr_in *ret)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(*ret);

	*ret = any_port();
	if (fd < 0 || bind(fd, (struct sockaddr *)ret, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)ret, &size) < 0)
		fail("a socket");
	return fd;
}

/* Not of a network. */
static void use_other_descriptors(void)
{
	int local[2], ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, local) < 0 || pipe(ends) < 0)
		fail("socketpair");
	if (write(local[0], bytes, 1000) != 1000 || recv(local[1], bytes, 1000, 0) != 1000 ||
	    write(ends[1], bytes, 500) != 500 || read(ends[0], bytes, 500) != 500)
		fail("a local socket or a pipe");
	for (int i = 0; i < 2; i++) {
		close(local[i]);
		close(ends[i]);
	}
}

/* The number of the socket is used again for a file, and again for the socket. */
static void *send_from_a_thread(void *context)
{
	int fd = *(int *)context, copy = dup(fd), file = open("/dev/zero", O_RDWR | O_CLOEXEC);

	if (copy < 0 || file < 0)
		fail("/dev/zero");
	SEND(write(copy, bytes, 11));
	if (dup2(file, copy) < 0 || write(copy, bytes, 4000) != 4000 || dup2(fd, copy) < 0)
		fail("dup2");
	SEND(write(copy, bytes, 13));
	close(copy);
	close(file);
	return NULL;
}

static void send_stream(const struct sockaddr_in *server)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), file = memfd_create("file", 0);
	struct iovec parts[2] = { { bytes, 10 }, { bytes + 10, 20 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
	pthread_t thread;

	if (fd < 0 || file < 0 ||
	    connect(fd, (const struct sockaddr *)server, sizeof(*server)) < 0 ||
	    write(file, bytes, 5000) != 5000)
		fail("connect");
	SEND(write(fd, bytes, sizeof(bytes)));
	SEND(writev(fd, parts, 2));
	SEND(pwritev2(fd, parts, 2, -1, 0));
	SEND(send(fd, bytes, 7, 0));
	SEND(sendmsg(fd, &message, 0));
	SEND(sendfile(fd, file, &(off_t){ 0 }, 5000));
	if (pthread_create(&thread, NULL, send_from_a_thread, &fd) != 0)
		fail("pthread_create");
	pthread_join(thread, NULL);
	use_other_descriptors();
	if (shutdown(fd, SHUT_WR) < 0)
		fail("shutdown");
	while (recv(fd, bytes, 1, MSG_PEEK) == 1)
		RECEIVE(recvmsg(fd, &message, 0));
	close(file);
	close(fd);
}

static void receive_stream(int listening)
{
	int fd = accept(listening, NULL, NULL);
	struct iovec parts[2] = { { bytes, 100 }, { bytes + 100, 100 } };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };

	if (fd < 0 || recv(fd, bytes, 50, MSG_PEEK) <= 0)
		fail("accept");
	RECEIVE(read(fd, bytes, 1000));
	RECEIVE(readv(fd, parts, 2));
	RECEIVE(preadv2(fd, parts, 2, -1, 0));
	RECEIVE(recv(fd, bytes, 300, 0));
	RECEIVE(recvmsg(fd, &message, 0));
	use_other_descriptors();
	for (uint64_t before = received - 1; received > before;) {
		before = received;
		RECEIVE(read(fd, bytes, sizeof(bytes)));
	}
	SEND(write(fd, bytes, 777));
	close(fd);
}

static void make_messages(struct mmsghdr messages[DATAGRAMS], struct iovec parts[DATAGRAMS])
{
	memset(messages, 0, DATAGRAMS * sizeof(*messages));
	for (size_t i = 0; i < DATAGRAMS; i++) {
		parts[i] = (struct iovec){ bytes + i * 1000, 100 * (i + 1) };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = &parts[i], .msg_iovlen = 1 };
	}
}

static void send_datagrams(const struct sockaddr_in *server)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct mmsghdr messages[DATAGRAMS];
	struct iovec parts[DATAGRAMS];

	if (fd < 0 || connect(fd, (const struct sockaddr *)server, sizeof(*server)) < 0)
		fail("connect");
	make_messages(messages, parts);
	if (sendmmsg(fd, messages, DATAGRAMS, 0) != DATAGRAMS)
		fail("sendmmsg");
	for (size_t i = 0; i < DATAGRAMS; i++)
		sent += messages[i].msg_len;
	SEND(sendto(fd, bytes, 40, 0, NULL, 0));
	close(fd);
}

static void receive_datagrams(int fd)
{
	struct mmsghdr messages[DATAGRAMS];
	struct iovec parts[DATAGRAMS];
	unsigned left = DATAGRAMS;

	make_messages(messages, parts);
	for (size_t i = 0; i < DATAGRAMS; i++)
		parts[i].iov_len = 1000;
	while (left) {
		int count = recvmmsg(fd, messages, left, MSG_WAITFORONE, NULL);

		if (count <= 0)
			fail("recvmmsg");
		for (int i = 0; i < count; i++)
			received += messages[i].msg_len;
		left -= (unsigned)count;
	}
	RECEIVE(recvfrom(fd, bytes, 1000, 0, NULL, NULL));
}

static void tell(bool is_held)
{
	printf("%d %llu %llu\n", getpid(), (unsigned long long)received, (unsigned long long)sent);
	fflush(stdout);
	while (is_held && read(STDIN_FILENO, bytes, 1) > 0)
		;
}

int main(int count, char **words)
{
	bool is_held = count > 1 && strcmp(words[1], "hold") == 0;
	struct sockaddr_in stream, datagrams;
	int listening = bound_socket(SOCK_STREAM, &stream);
	int mailbox = bound_socket(SOCK_DGRAM, &datagrams);
	pid_t client;

	if (listen(listening, 1) < 0)
		fail("listen");
	client = fork();
	if (client < 0)
		fail("fork");
	if (client == 0) {
		close(listening);
		close(mailbox);
		send_stream(&stream);
		send_datagrams(&datagrams);
		tell(is_held);
		return 0;
	}
	receive_stream(listening);
	receive_datagrams(mailbox);
	tell(is_held);
	waitpid(client, NULL, 0);
	return 0;
}
