/* SPDX-License-Identifier: MIT */
#include "host/wait/process_sockets.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/wait/socket_peer.h"

#define SOCKETS_MAX 16
#define DESCRIPTORS_MAX 4096

static bool read_socket(int fds, int32_t fd, char link[DESCRIPTOR_LINK], uint64_t *ret)
{
	static const char begin[] = "socket:[";
	const char *cursor = link + sizeof(begin) - 1;
	char name[16];
	ssize_t length;

	snprintf(name, sizeof(name), "%" PRId32, fd);
	length = readlinkat(fds, name, link, DESCRIPTOR_LINK - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	return strncmp(link, begin, sizeof(begin) - 1) == 0 && scan_u64(&cursor, ret);
}

/* Sockets of other kinds and of other network namespaces count as neither. */
static void add_socket(const char *link, uint64_t inode, struct process_sockets *ret)
{
	struct socket_peer peer;

	if (socket_peer_find(inode, &peer) < 0)
		return;
	if (peer.own.is_listener) {
		ret->listening++;
	} else if (peer.own.kind == SOCKET_TCP && peer.own.remote.port) {
		ret->connected++;
		snprintf(ret->link, sizeof(ret->link), "%s", link);
	}
}

int process_sockets_add(const struct host *host, int32_t pid, uint64_t deadline_ns,
			struct process_sockets *ret)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers numbers = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	CLEANUP(close_fd) int fds = -1;
	int status = process < 0 ? process : proc_list(process, "fd", &numbers);
	size_t sockets = 0;

	if (status < 0)
		return status;
	fds = proc_open(process, "fd");
	if (fds < 0)
		return fds;
	for (size_t i = 0; i < numbers.list.count; i++) {
		char link[DESCRIPTOR_LINK];
		uint64_t inode;

		if (i == DESCRIPTORS_MAX || sockets > SOCKETS_MAX)
			return -E2BIG;
		if (monotonic_ns() >= deadline_ns)
			return -ETIMEDOUT;
		if (!read_socket(fds, numbers.list.data[i], link, &inode))
			continue;
		sockets++;
		add_socket(link, inode, ret);
	}
	return 0;
}
