#include "session/process_look.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"
#include "host/privilege.h"

/* Of field 9 in the stat file. */
#define FLAG_EXITING 0x00000004
#define FLAG_KERNEL 0x00200000

/* The name in front may contain anything, also parentheses. */
static bool parse_stat(const char *text, struct process_look *look)
{
	const char *cursor = strrchr(text, ')');
	int64_t number;
	uint64_t flags;

	if (!cursor || cursor[1] != ' ' || !cursor[2])
		return false;
	look->state = cursor[2];
	cursor += 3;
	for (int field = 4; field <= 8; field++) {
		cursor += *cursor == ' ';
		if (!scan_i64(&cursor, &number))
			return false;
	}
	cursor += *cursor == ' ';
	if (!scan_u64(&cursor, &flags))
		return false;
	look->exiting = flags & FLAG_EXITING || look->state == 'Z' || look->state == 'X';
	look->kernel = flags & FLAG_KERNEL;
	return true;
}

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

static int read_below(const struct host *host, int32_t pid, const char *name, char *buffer,
		      size_t capacity)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "%" PRId32 "/%s", pid, name);
	length = file_read(host->proc, path, buffer, capacity);
	return length == -ENOENT ? -ESRCH : length < 0 ? (int)length : 0;
}

int process_look(const struct host *host, int32_t pid, struct process_look *ret)
{
	struct process_look look = { 0 };
	struct stat directory;
	char buffer[8192];
	char path[16];
	int status;

	snprintf(path, sizeof(path), "%" PRId32, pid);
	if (fstatat(host->proc, path, &directory, 0) < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	look.user = directory.st_uid;
	status = read_below(host, pid, "stat", buffer, sizeof(buffer));
	if (status < 0 || !parse_stat(buffer, &look))
		return status < 0 ? status : -EBADMSG;
	status = read_below(host, pid, "status", buffer, sizeof(buffer));
	if (status < 0 || !parse_group(buffer, &look))
		return status < 0 ? status : -EBADMSG;
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
	if (look.exiting)
		return error_set(error, -ESRCH, "process %" PRId32 " has ended", pid);
	if (look.user != geteuid() && !host_has_capability(CAP_SYS_PTRACE))
		return error_set(error, -EPERM,
				 "process %" PRId32 " belongs to another user (%" PRIu32
				 "): attaching to it needs CAP_SYS_PTRACE, or being that user",
				 pid, look.user);
	return 0;
}
