/* SPDX-License-Identifier: MIT */
#include "session/attachable.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "host/privilege.h"
#include "session/why/process_state.h"

int process_attachable(const struct host *host, int32_t pid, struct error *error)
{
	struct process_state found = { 0 };
	CLEANUP(close_fd) int process = -1;
	struct stat owner;

	if (pid == getpid())
		return error_set(error, -EINVAL, "process %" PRId32 " is taskscope itself", pid);
	process = process_state_open(host, pid, &found);
	if (process >= 0 && fstat(process, &owner) < 0)
		return error_set(error, -errno, "cannot read process %" PRId32 ": %s", pid,
				 strerror(errno));
	if (process == -ESRCH)
		return error_set(error, process, "there is no process %" PRId32, pid);
	if (process < 0)
		return error_set(error, process, "cannot read process %" PRId32 ": %s", pid,
				 strerror(-process));
	if (found.pid != pid)
		return error_set(error, -ESRCH,
				 "%" PRId32 " is a thread of process %" PRId32 ": name the process",
				 pid, found.pid);
	if (found.is_kernel_thread)
		return error_set(error, -EINVAL,
				 "process %" PRId32 " is a kernel thread: it has no tree to follow",
				 pid);
	if (found.is_ending)
		return error_set(error, -ESRCH, "process %" PRId32 " has ended", pid);
	if (owner.st_uid != geteuid() && !host_has_capability(CAP_SYS_PTRACE))
		return error_set(error, -EPERM,
				 "process %" PRId32 " belongs to another user (%" PRIu32
				 "): attaching to it needs CAP_SYS_PTRACE, or being that user",
				 pid, owner.st_uid);
	return 0;
}
