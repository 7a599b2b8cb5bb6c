/* SPDX-License-Identifier: MIT */
/*
 * Reads facts of a process through a directory fd, so that no value comes from another process
 * that got the same number.
 */
#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/task_text.h"
#include "trace/proc/proc_sample.h"
#include "trace/tracer.h"

/* -ESRCH when it is another process that got the number later. */
static int check_start(const struct host *host, int process, uint64_t start_ns)
{
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
		return proc_gone(status);
	return proc_sample_is_start(host, found_ns * host->tick_ns, start_ns) ? 0 : -ESRCH;
}

int process_directory(const struct host *host, int32_t pid, uint64_t start_ns)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	int status;

	if (process < 0)
		return proc_gone(process);
	status = check_start(host, process, start_ns);
	return status < 0 ? status : TAKE_FD(process);
}

/* The first two numbers of statm, in pages.  -ESRCH for a thread that ended: it has no memory. */
static int read_rss(const struct host *host, int thread, struct tree_process_facts *facts)
{
	char buffer[256];
	const char *cursor = buffer;
	uint64_t size, resident;
	ssize_t length = proc_read_start(thread, "statm", buffer, sizeof(buffer));

	if (length < 0)
		return proc_gone(length);
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
	CLEANUP(proc_numbers_clear) struct proc_numbers fds = { 0 };

	if (proc_list(process, "fd", &fds) < 0)
		return false;
	*ret = fds.list.count;
	return true;
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
	CLEANUP(proc_numbers_clear) struct proc_numbers tids = { 0 };
	CLEANUP(close_fd) int tasks = proc_open(process, "task");
	int status = tasks < 0 ? tasks : proc_list(tasks, ".", &tids);

	for (size_t i = 0; i < tids.list.count; i++) {
		CLEANUP(close_fd) int thread = proc_open_number(tasks, tids.list.data[i]);

		if (thread >= 0 && read_facts(host, thread, pid, ret) == 0)
			return 0;
	}
	return status < 0 ? proc_gone(status) : -ESRCH;
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
