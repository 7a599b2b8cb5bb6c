/* SPDX-License-Identifier: MIT */
#include "session/process_look.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"
#include "host/privilege.h"
#include "session/stat_line.h"

static bool parse_group(const char *text, struct process_look *look)
{
	const char *line = strstr(text, "\nTgid:\t");
	uint64_t group;

	if (!line)
		return false;
	line += strlen("\nTgid:\t");
	if (!scan_u64(&line, &group))
		return false;
	look->group = (int32_t)group;
	return true;
}

static int read_group(int process, struct process_look *look)
{
	char buffer[8192];
	ssize_t length = file_read(process, "status", buffer, sizeof(buffer));

	if (length < 0)
		return (int)length;
	return parse_group(buffer, look) ? 0 : -EBADMSG;
}

/* All below one directory fd, so that all is of the same process. */
static int read_all(int process, struct process_look *look)
{
	struct stat directory;
	struct stat_line line;
	int status = stat_line_read(process, "stat", &line);

	if (status < 0)
		return status;
	if (fstat(process, &directory) < 0)
		return -errno;
	look->user = directory.st_uid;
	look->state = line.state;
	look->kernel = stat_line_is_kernel_thread(&line);
	look->exiting = stat_line_is_ending(&line);
	look->ended = look->exiting && !stat_line_any_lives(process);
	return read_group(process, look);
}

int process_look(const struct host *host, int32_t pid, struct process_look *ret)
{
	struct process_look look = { 0 };
	char path[16];
	CLEANUP(close_fd) int process = -1;
	int status;

	snprintf(path, sizeof(path), "%" PRId32, pid);
	process = host_open_directory(host->proc, path);
	status = process < 0 ? process : read_all(process, &look);
	if (status < 0)
		return status == -ENOENT ? -ESRCH : status;
	*ret = look;
	return 0;
}

int process_attachable(const struct host *host, int32_t pid, struct error *error)
{
	struct process_look look;
	int status;

	if (pid == getpid())
		return error_set(error, -EINVAL, "process %" PRId32 " is taskscope itself", pid);
	status = process_look(host, pid, &look);
	if (status == -ESRCH)
		return error_set(error, status, "there is no process %" PRId32, pid);
	if (status < 0)
		return error_set(error, status, "cannot look at process %" PRId32 ": %s", pid,
				 strerror(-status));
	if (look.group != pid)
		return error_set(error, -ESRCH,
				 "%" PRId32 " is a thread of process %" PRId32 ": name the process",
				 pid, look.group);
	if (look.kernel)
		return error_set(error, -EINVAL,
				 "process %" PRId32 " is a kernel thread: it has no tree to follow",
				 pid);
	if (look.ended)
		return error_set(error, -ESRCH, "process %" PRId32 " has ended", pid);
	if (look.user != geteuid() && !host_has_capability(CAP_SYS_PTRACE))
		return error_set(error, -EPERM,
				 "process %" PRId32 " belongs to another user (%" PRIu32
				 "): attaching to it needs CAP_SYS_PTRACE, or being that user",
				 pid, look.user);
	return 0;
}
