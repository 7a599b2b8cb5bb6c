/* SPDX-License-Identifier: MIT */
/* What the connector lost, told by a kernel that this test plays. */
#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "trace/connector_socket.h"

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
		    struct timespec *timeout);

static int kernel_end;

/* What the next recvmmsg() gives: an event, or an errno. */
static struct {
	int error;
	uint32_t cpu, sequence;
	uint32_t what, answers;
} next;

/* Always readable. */
int __wrap_socket(int domain, int type, int protocol)
{
	int ends[2];

	(void)domain;
	(void)protocol;
	if (socketpair(AF_UNIX, type, 0, ends) < 0 || write(ends[1], "x", 1) != 1)
		return -1;
	kernel_end = ends[1];
	return ends[0];
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
	(void)fd;
	(void)address;
	(void)size;
	return 0;
}

int __wrap_recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags,
		    struct timespec *timeout)
{
	const struct proc_event event = { .what = next.what, .cpu = next.cpu };
	const struct cn_msg inner = { .id = { CN_IDX_PROC, CN_VAL_PROC },
				      .seq = next.sequence,
				      .ack = next.answers + 1,
				      .len = sizeof(event) };
	const struct nlmsghdr header = { .nlmsg_len = NLMSG_HDRLEN + sizeof(inner) + sizeof(event),
					 .nlmsg_type = NLMSG_DONE };
	char *bytes = messages[0].msg_hdr.msg_iov->iov_base;

	(void)fd;
	(void)flags;
	(void)timeout;
	assert_true(count > 0 && header.nlmsg_len <= messages[0].msg_hdr.msg_iov->iov_len);
	errno = next.error;
	if (next.error)
		return -1;
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + NLMSG_HDRLEN, &inner, sizeof(inner));
	memcpy(bytes + NLMSG_HDRLEN + sizeof(inner), &event, sizeof(event));
	messages[0].msg_len = header.nlmsg_len;
	return 1;
}

static struct connector_socket *open_socket(void)
{
	struct connector_socket *opened = NULL;

	next.error = 0;
	next.cpu = next.sequence = 0;
	next.what = PROC_EVENT_NONE;
	next.answers = (uint32_t)getpid();
	assert_int_equal(connector_socket_open(&opened, NULL), 0);
	next.what = PROC_EVENT_EXEC;
	return opened;
}

static void close_socket(struct connector_socket *opened)
{
	connector_socket_close(opened);
	close(kernel_end);
}

static uint64_t lost_after_event(struct connector_socket *opened, uint32_t cpu, uint32_t sequence)
{
	static struct connector_event events[CONNECTOR_BATCH];

	next.error = 0;
	next.cpu = cpu;
	next.sequence = sequence;
	assert_int_equal(connector_socket_receive(opened, events), 1);
	return connector_socket_lost(opened);
}

static uint64_t lost_after_overrun(struct connector_socket *opened)
{
	static struct connector_event events[CONNECTOR_BATCH];

	next.error = ENOBUFS;
	assert_int_equal(connector_socket_receive(opened, events), -ENOBUFS);
	return connector_socket_lost(opened);
}

static void gaps_in_the_numbers_of_a_cpu_are_lost_events(void **state)
{
	struct connector_socket *opened = open_socket();

	(void)state;
	assert_int_equal(lost_after_event(opened, 0, 1), 0);
	assert_int_equal(lost_after_event(opened, 1, 700), 0);
	assert_int_equal(lost_after_event(opened, 0, 5), 3);
	assert_int_equal(lost_after_event(opened, 1, 701), 3);
	close_socket(opened);
}

/* Each of two CPUs lost events: the gap of the first must not hide what the second lost. */
static void what_was_lost_never_becomes_less(void **state)
{
	struct connector_socket *opened = open_socket();

	(void)state;
	lost_after_event(opened, 1, 700);
	assert_int_equal(lost_after_overrun(opened), 1);
	assert_int_equal(lost_after_overrun(opened), 2);
	assert_int_equal(lost_after_event(opened, 0, 2), 2);
	assert_int_equal(lost_after_event(opened, 1, 703), 3);
	close_socket(opened);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_in_the_numbers_of_a_cpu_are_lost_events),
		cmocka_unit_test(what_was_lost_never_becomes_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
