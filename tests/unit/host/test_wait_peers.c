/* SPDX-License-Identifier: MIT */
/* The other ends of our own pipes and sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/host.h"
#include "host/wait/descriptor_holders.h"
#include "host/wait/socket_peer.h"

static uint64_t inode_of(int fd)
{
	struct stat status;

	assert_int_equal(fstat(fd, &status), 0);
	return status.st_ino;
}

static void a_unix_socket_has_its_peer(void **state)
{
	struct socket_peer peer;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(socket_peer_find(inode_of(pair[0]), &peer), 0);
	assert_true(peer.has_peer);
	assert_int_equal(peer.inode, inode_of(pair[1]));
	assert_string_equal(peer.name, "unix");
	close(pair[1]);
	close(pair[0]);
}

static void a_connection_over_loopback_has_its_peer(void **state)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), client, server;
	struct socket_peer peer;
	char name[64];

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	client = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(client, (struct sockaddr *)&address, length), 0);
	server = accept(listener, NULL, NULL);
	assert_int_equal(socket_peer_find(inode_of(client), &peer), 0);
	assert_true(peer.has_peer);
	assert_int_equal(peer.inode, inode_of(server));
	assert_int_equal(peer.own.remote.port, ntohs(address.sin_port));
	assert_int_equal(socket_peer_find(inode_of(listener), &peer), 0);
	assert_false(peer.has_peer);
	snprintf(name, sizeof(name), "tcp 127.0.0.1:%u, listening", ntohs(address.sin_port));
	assert_string_equal(peer.name, name);
	close(server);
	/* Nobody has the other end open any more. */
	assert_int_equal(socket_peer_find(inode_of(client), &peer), 0);
	assert_false(peer.has_peer);
	close(client);
	close(listener);
}

static void what_is_not_a_socket_is_not_found(void **state)
{
	struct socket_peer peer;

	(void)state;
	assert_int_equal(socket_peer_find(0, &peer), -ENOENT);
	assert_int_equal(socket_peer_find(UINT64_MAX, &peer), -ENOENT);
	assert_int_equal(socket_peer_find(1, &peer), -ENOENT);
}

static void a_pipe_has_its_holders(void **state)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct descriptor_search searches[2] = { 0 };
	int ends[2], other[2];

	(void)state;
	assert_int_equal(host_open(&host, NULL, NULL), 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pipe(other), 0);
	snprintf(searches[0].link, DESCRIPTOR_LINK, "pipe:[%" PRIu64 "]", inode_of(ends[0]));
	snprintf(searches[1].link, DESCRIPTOR_LINK, "pipe:[%" PRIu64 "]", inode_of(other[0]));
	close(other[0]);
	descriptor_holders_find(host, searches, 2, monotonic_ns() + 60 * NS_PER_SECOND);
	assert_int_equal(searches[0].count, 1);
	assert_int_equal(searches[0].holders[0].pid, getpid());
	assert_true(searches[0].holders[0].reads && searches[0].holders[0].writes);
	assert_int_equal(searches[1].count, 1);
	assert_true(!searches[1].holders[0].reads && searches[1].holders[0].writes);
	/* After its deadline it finds nobody, and says that it is not complete. */
	searches[0].count = 0;
	assert_false(descriptor_holders_find(host, searches, 1, 1));
	assert_int_equal(searches[0].count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_unix_socket_has_its_peer),
		cmocka_unit_test(a_connection_over_loopback_has_its_peer),
		cmocka_unit_test(what_is_not_a_socket_is_not_found),
		cmocka_unit_test(a_pipe_has_its_holders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
