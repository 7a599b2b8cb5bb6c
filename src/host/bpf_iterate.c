/* SPDX-License-Identifier: MIT */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/bpf.h"

/* Twice the kernel's own output buffer, so that a read never splits a record. */
#define BUFFER_SIZE ((size_t)64 * 1024)

/* Kernels before 6.1 cannot walk a single process, and refuse the longer options. */
static int attach(int program, int32_t tgid)
{
	union bpf_iter_link_info info = { .task.pid = (uint32_t)tgid };
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	int link = bpf_link_create(program, 0, BPF_TRACE_ITER, tgid ? &options : NULL);

	return tgid && (link == -EINVAL || link == -E2BIG) ? -ENOTSUP : link;
}

/*
 * Reads to the end.  The kernel returns EAGAIN after very many tasks without output; then the read
 * is repeated.
 */
static int read_all(int fd, char *buffer, host_bpf_consumer *consume, void *context)
{
	size_t filled = 0;

	for (;;) {
		ssize_t got = read(fd, buffer + filled, BUFFER_SIZE - filled);
		ssize_t used;

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return filled == 0 ? 0 : -EBADMSG;
		filled += (size_t)got;
		used = consume(context, buffer, filled);
		if (used < 0)
			return (int)used;
		filled -= (size_t)used;
		memmove(buffer, buffer + used, filled);
	}
}

int host_bpf_iterate(int program, int32_t tgid, host_bpf_consumer *consume, void *context)
{
	CLEANUP(free_pointer) char *buffer = malloc(BUFFER_SIZE);
	CLEANUP(close_fd) int link = -1;
	CLEANUP(close_fd) int fd = -1;

	if (!buffer)
		return -ENOMEM;
	link = attach(program, tgid);
	if (link < 0)
		return link;
	fd = bpf_iter_create(link);
	if (fd < 0)
		return fd;
	return read_all(fd, buffer, consume, context);
}
