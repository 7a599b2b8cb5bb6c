/* SPDX-License-Identifier: MIT */
/*
 * Reads facts of a process through a directory fd, so that no value comes from another process
 * that got the same number.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/task_text.h"
#include "trace/proc/proc_sample.h"
#include "trace/tracer.h"

#define LISTING_BYTES (32 * 1024)
#define STATUS_BYTES 8192 /* a longer file is cut: what we need comes before that */
#define KIB 1024
/* Start times from events are a little late, those of /proc are whole ticks. */
#define START_TOLERANCE_TICKS 2

static int open_directory(const struct host *host, int32_t pid)
{
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "%" PRId32, pid);
	fd = openat(host->proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return fd;
}

/* Adds a NUL at the end.  Fails when the process is gone: its files cannot be opened or read. */
static int read_file(int process, const char *name, char *buffer, size_t capacity)
{
	CLEANUP(close_fd) int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	length = read(fd, buffer, capacity - 1);
	if (length < 0)
		return -errno;
	buffer[length] = '\0';
	return 0;
}

/* -ESRCH when it is another process that got the number later. */
static int check_start(const struct host *host, int process, uint64_t start_ns)
{
	uint64_t tolerance = START_TOLERANCE_TICKS * host->tick_ns;
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	uint64_t found_ns;
	int status;

	if (!start_ns)
		return 0;
	status = task_stat_read(process, "stat", buffer, &stat);
	if (status == -EBADMSG ||
	    (status == 0 && !task_stat_number(&stat, TASK_STAT_START, &found_ns)))
		return 0;
	if (status < 0)
		return status == -ENOENT ? -ESRCH : status;
	found_ns *= host->tick_ns;
	return found_ns > start_ns + tolerance || start_ns > found_ns + tolerance ? -ESRCH : 0;
}

int process_directory(const struct host *host, int32_t pid, uint64_t start_ns)
{
	CLEANUP(close_fd) int process = open_directory(host, pid);
	int status;

	if (process < 0)
		return process;
	status = check_start(host, process, start_ns);
	return status < 0 ? status : TAKE_FD(process);
}

/* The first two numbers of statm, in pages.  -ESRCH for a thread that ended: it has no memory. */
static int read_rss(const struct host *host, int thread, struct tree_process_facts *facts)
{
	char buffer[256];
	const char *cursor = buffer;
	uint64_t size, resident;
	int status = read_file(thread, "statm", buffer, sizeof(buffer));

	if (status < 0)
		return status;
	if (!scan_u64(&cursor, &size) || *cursor++ != ' ' || !scan_u64(&cursor, &resident))
		return 0;
	if (size == 0)
		return -ESRCH;
	facts->rss_bytes = resident * host->page_bytes;
	facts->present |= TREE_PROCESS_RSS;
	return 0;
}

static bool count_descriptors(int process, uint64_t *ret)
{
	CLEANUP(close_fd) int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char entries[LISTING_BYTES];
	ssize_t length;

	if (fd < 0)
		return false;
	*ret = 0;
	while ((length = getdents64(fd, entries, sizeof(entries))) > 0)
		for (ssize_t offset = 0; offset < length;) {
			const struct dirent64 *entry = (const void *)(entries + offset);

			*ret += entry->d_name[0] != '.';
			offset += entry->d_reclen;
		}
	return length == 0;
}

/* Since 6.2 the size of the directory is the number of descriptors; older kernels say 0. */
static void read_descriptors(int process, int32_t pid, struct tree_process_facts *facts)
{
	struct stat status;
	struct rlimit limit;

	if (fstatat(process, "fd", &status, 0) < 0)
		return;
	facts->fds = (uint64_t)status.st_size;
	if (status.st_size > 0 || count_descriptors(process, &facts->fds))
		facts->present |= TREE_PROCESS_FDS;
	if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit) < 0)
		return;
	facts->fd_limit = limit.rlim_cur;
	facts->present |= TREE_PROCESS_FD_LIMIT;
}

/* `thread` is the directory of a process, which shows its first thread, or that of a thread. */
static int read_facts(const struct host *host, int thread, int32_t pid,
		      struct tree_process_facts *ret)
{
	struct tree_process_facts facts = { 0 };
	int status;

	read_descriptors(thread, pid, &facts);
	/* Read last: when this works the process lives, so the limit above was its own. */
	status = read_rss(host, thread, &facts);
	if (status < 0)
		return status;
	*ret = facts;
	return 0;
}

/* When the first thread has ended: reads the facts from another thread that lives. */
static int read_by_thread(const struct host *host, int process, int32_t pid,
			  struct tree_process_facts *ret)
{
	CLEANUP(close_fd) int tasks = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char entries[LISTING_BYTES];
	ssize_t length;

	if (tasks < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((length = getdents64(tasks, entries, sizeof(entries))) > 0)
		for (ssize_t offset = 0; offset < length;) {
			const struct dirent64 *entry = (const void *)(entries + offset);
			CLEANUP(close_fd)
			int thread = openat(tasks, entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);

			if (entry->d_name[0] != '.' && thread >= 0 &&
			    read_facts(host, thread, pid, ret) == 0)
				return 0;
			offset += entry->d_reclen;
		}
	return -ESRCH;
}

int process_facts_read(const struct host *host, int32_t pid, uint64_t start_ns,
		       struct tree_process_facts *ret)
{
	CLEANUP(close_fd) int process = process_directory(host, pid, start_ns);
	int status;

	if (process < 0)
		return process;
	status = read_facts(host, process, pid, ret);
	return status == -ESRCH ? read_by_thread(host, process, pid, ret) : status;
}

int process_peak_read(const struct host *host, int32_t pid, struct tree_process_facts *facts)
{
	CLEANUP(close_fd) int process = open_directory(host, pid);
	char buffer[STATUS_BYTES];
	uint64_t kibibytes;
	int status;

	if (process < 0)
		return process;
	status = read_file(process, "status", buffer, sizeof(buffer));
	if (status < 0)
		return status;
	if (task_status_number(buffer, "VmHWM", &kibibytes)) {
		facts->peak_rss_bytes = kibibytes * KIB;
		facts->present |= TREE_PROCESS_PEAK_RSS;
	}
	return 0;
}
