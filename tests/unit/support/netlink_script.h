/* SPDX-License-Identifier: MIT */
/*
 * A netlink socket whose kernel is a script: what the program receives is what the test wrote down
 * before, and what it asked is kept.  Tests link with netlink_wraps of meson.build.
 */
#ifndef TESTS_UNIT_NETLINK_SCRIPT_H
#define TESTS_UNIT_NETLINK_SCRIPT_H

#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

#define SCRIPT_MOST 512

/* One message, or an error instead of one. */
struct scripted {
	int error;
	int flags;
	uint32_t sender;
	socklen_t name_length;
	size_t length;
	char bytes[1536];
};

static struct {
	struct scripted messages[SCRIPT_MOST];
	size_t count, next;
	int socket_error, bind_error, send_error;
	int force_error; /* for a receive buffer beyond the limit */
	int options[8], option_count;
	struct sockaddr_nl address;
	_Alignas(8) char asked[2048];
	size_t asked_length, asked_times;
} script;

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length);
int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length);
ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout);
int __wrap_recvmmsg(int fd, struct mmsghdr *headers, unsigned count, int flags,
		    struct timespec *timeout);

static inline int script_result(int error)
{
	errno = error;
	return error ? -1 : 0;
}

int __wrap_socket(int domain, int type, int protocol)
{
	(void)protocol;
	assert_int_equal(domain, AF_NETLINK);
	assert_true(type & SOCK_CLOEXEC);
	return script.socket_error ? script_result(script.socket_error) : eventfd(0, EFD_CLOEXEC);
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t length)
{
	(void)fd;
	assert_int_equal(length, sizeof(script.address));
	memcpy(&script.address, address, length);
	return script_result(script.bind_error);
}

int __wrap_setsockopt(int fd, int level, int name, const void *value, socklen_t length)
{
	(void)fd, (void)level, (void)value, (void)length;
	script.options[script.option_count++] = name;
	return script_result(name == SO_RCVBUFFORCE ? script.force_error : 0);
}

ssize_t __wrap_send(int fd, const void *bytes, size_t length, int flags)
{
	(void)fd, (void)flags;
	if (script.send_error)
		return script_result(script.send_error);
	memcpy(script.asked, bytes, length);
	script.asked_length = length;
	script.asked_times++;
	return (ssize_t)length;
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	(void)fds;
	assert_int_equal(count, 1);
	assert_true(timeout > 0);
	return script.next < script.count;
}

static inline void script_deliver(const struct scripted *from, struct mmsghdr *header)
{
	struct sockaddr_nl *sender = header->msg_hdr.msg_name;

	assert_int_equal(header->msg_hdr.msg_namelen, sizeof(*sender));
	*sender = (struct sockaddr_nl){ .nl_family = AF_NETLINK, .nl_pid = from->sender };
	header->msg_hdr.msg_namelen = from->name_length;
	header->msg_hdr.msg_flags = from->flags;
	assert_int_equal(header->msg_hdr.msg_iovlen, 1);
	assert_true(from->length <= header->msg_hdr.msg_iov->iov_len);
	memcpy(header->msg_hdr.msg_iov->iov_base, from->bytes, from->length);
	header->msg_len = (unsigned)from->length;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *headers, unsigned count, int flags,
		    struct timespec *timeout)
{
	unsigned taken = 0;

	(void)fd;
	assert_int_equal(flags, MSG_DONTWAIT);
	assert_null(timeout);
	if (script.next < script.count && script.messages[script.next].error)
		return script_result(script.messages[script.next++].error);
	while (taken < count && script.next < script.count && !script.messages[script.next].error)
		script_deliver(&script.messages[script.next++], &headers[taken++]);
	return taken ? (int)taken : script_result(EAGAIN);
}

static inline struct scripted *script_add(const void *bytes, size_t length)
{
	struct scripted *message = &script.messages[script.count++];

	assert_true(script.count <= SCRIPT_MOST && length <= sizeof(message->bytes));
	*message = (struct scripted){ .length = length, .name_length = sizeof(struct sockaddr_nl) };
	if (length)
		memcpy(message->bytes, bytes, length);
	return message;
}

static inline void script_add_error(int error)
{
	script_add(NULL, 0)->error = error;
}

#endif
