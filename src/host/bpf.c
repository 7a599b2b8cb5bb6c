/* SPDX-License-Identifier: MIT */
#include "host/bpf.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "host/host.h"
#include "host/privilege.h"

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

/* Checked here, since without one of the two the loader fails with errors that do not say so. */
static bool has_capabilities(void)
{
	return host_has_capability(CAP_SYS_ADMIN) ||
	       (host_has_capability(CAP_BPF) && host_has_capability(CAP_PERFMON));
}

/* Names the file of the running program, so that the user can copy the command. */
static int ask_for_capabilities(const struct host *host, struct error *error)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(host->proc, "self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	return error_set(error, -EPERM,
			 "BPF programs need CAP_BPF and CAP_PERFMON: run as root, or give them "
			 "with `setcap cap_bpf,cap_perfmon+ep %s`",
			 length > 0 ? path : "taskscope");
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
	return has_capabilities() ? 0 : ask_for_capabilities(host, error);
}

int host_bpf_explain(int status, struct error *error)
{
	for (size_t i = 0; i < ARRAY_SIZE(explanations); i++)
		if (explanations[i].error == -status)
			return error_set(error, status, "%s", explanations[i].sentence);
	return error_set(error, status, "the BPF program does not work on this kernel: %s",
			 strerror(-status));
}
