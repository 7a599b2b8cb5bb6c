/* SPDX-License-Identifier: MIT */
#include "host/bpf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"

/* Twice the kernel's own output buffer, so that a read never splits a record. */
#define BUFFER_SIZE ((size_t)64 * 1024)

static const struct {
	int error;
	const char *sentence;
} explanations[] = {
	{ EPERM, "the kernel refused the BPF program: CAP_BPF and CAP_PERFMON must be the host's, "
		 "not those of a user namespace, and the kernel not locked down" },
	{ EACCES, "the kernel's verifier refused the BPF program" },
	{ ENOSYS, "this kernel was built without BPF (CONFIG_BPF_SYSCALL)" },
	{ ENOMEM, "out of memory" },
};

/* Asked here, since a loader that lacks one of the two fails with errors that do not say so. */
static bool has_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	uint64_t effective;

	if (syscall(SYS_capget, &header, data) < 0)
		return true;
	effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	return effective >> CAP_SYS_ADMIN & 1 ||
	       (effective >> CAP_BPF & 1 && effective >> CAP_PERFMON & 1);
}

int host_bpf_check(const struct host *host, struct error *error)
{
	if (!host->live)
		return error_set(error, -ENOTSUP,
				 "BPF sees the running kernel only, not a recorded root");
	if (host->sys < 0 || faccessat(host->sys, "kernel/btf/vmlinux", R_OK, 0) < 0)
		return error_set(error, -ENOENT,
				 "BPF programs need the kernel's type information, and there is "
				 "no kernel/btf/vmlinux in sysfs: boot a kernel with "
				 "CONFIG_DEBUG_INFO_BTF");
	if (!has_capabilities())
		return error_set(error, -EPERM,
				 "BPF programs need CAP_BPF and CAP_PERFMON: run as root, or give "
				 "them with `setcap cap_bpf,cap_perfmon+ep`");
	return 0;
}

int host_bpf_explain(int status, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(explanations); i++)
		if (explanations[i].error == -status)
			return error_set(error, status, "%s", explanations[i].sentence);
	return error_set(error, status, "the BPF program does not work on this kernel: %s",
			 strerror(-status));
}

/* Kernels before 6.1 walk all tasks or none, and refuse the longer options. */
static int attach(int program, int32_t tgid)
{
	union bpf_iter_link_info info = { .task.pid = (uint32_t)tgid };
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	int link = bpf_link_create(program, 0, BPF_TRACE_ITER, tgid ? &options : NULL);

	return tgid && (link == -EINVAL || link == -E2BIG) ? -ENOTSUP : link;
}

/*
 * Reads to the end.  The kernel pauses with EAGAIN after very many tasks that
 * gave no output.
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
