/* SPDX-License-Identifier: MIT */
#include "session/attachable.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "host/privilege.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

struct process {
	bool has_ended;	 /* with all its threads */
	bool is_kernels; /* a kernel thread */
	int32_t group;	 /* its process; differs from its own number for a thread */
	uint32_t user;	 /* effective, as proc shows it */
};

static int read_group(int process, struct process *found)
{
	char buffer[8192];
	ssize_t length = proc_read_start(process, "status", buffer, sizeof(buffer));
	uint64_t group;

	if (length < 0)
		return (int)length;
	if (!task_status_number(buffer, "Tgid", &group))
		return -EBADMSG;
	found->group = (int32_t)group;
	return 0;
}

/* Reads everything below one directory fd, so that all values are of the same process. */
static int read_all(int process, struct process *found)
{
	struct stat directory;
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	int status = task_stat_read(process, "stat", buffer, &stat);

	if (status < 0)
		return status;
	if (fstat(process, &directory) < 0)
		return -errno;
	found->user = directory.st_uid;
	found->is_kernels = task_stat_is_kernel_thread(&stat);
	found->has_ended = task_stat_is_ending(&stat) && !process_has_living_thread(process);
	return read_group(process, found);
}

static int read_process(const struct host *host, int32_t pid, struct process *ret)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);

	return proc_gone(process < 0 ? process : read_all(process, ret));
}

int process_attachable(const struct host *host, int32_t pid, struct error *error)
{
	struct process found = { 0 };
	int status;

	if (pid == getpid())
		return error_set(error, -EINVAL, "process %" PRId32 " is taskscope itself", pid);
	status = read_process(host, pid, &found);
	if (status == -ESRCH)
		return error_set(error, status, "there is no process %" PRId32, pid);
	if (status < 0)
		return error_set(error, status, "cannot look at process %" PRId32 ": %s", pid,
				 strerror(-status));
	if (found.group != pid)
		return error_set(error, -ESRCH,
				 "%" PRId32 " is a thread of process %" PRId32 ": name the process",
				 pid, found.group);
	if (found.is_kernels)
		return error_set(error, -EINVAL,
				 "process %" PRId32 " is a kernel thread: it has no tree to follow",
				 pid);
	if (found.has_ended)
		return error_set(error, -ESRCH, "process %" PRId32 " has ended", pid);
	if (found.user != geteuid() && !host_has_capability(CAP_SYS_PTRACE))
		return error_set(error, -EPERM,
				 "process %" PRId32 " belongs to another user (%" PRIu32
				 "): attaching to it needs CAP_SYS_PTRACE, or being that user",
				 pid, found.user);
	return 0;
}
