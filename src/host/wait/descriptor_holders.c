/* SPDX-License-Identifier: MIT */
#include "host/wait/descriptor_holders.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

static struct descriptor_holder *holder_of(struct descriptor_search *search, int32_t pid)
{
	for (size_t i = 0; i < search->count; i++)
		if (search->holders[i].pid == pid)
			return &search->holders[i];
	if (search->count == DESCRIPTOR_HOLDERS) {
		search->has_more = true;
		return NULL;
	}
	search->holders[search->count] = (struct descriptor_holder){ .pid = pid };
	return &search->holders[search->count++];
}

/* The permissions of the link say how the file was opened. */
static void add_holder(struct descriptor_search *search, int32_t pid, int fds, const char *name)
{
	struct descriptor_holder *holder = holder_of(search, pid);
	struct stat link;

	if (!holder || fstatat(fds, name, &link, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	holder->reads |= (link.st_mode & S_IRUSR) != 0;
	holder->writes |= (link.st_mode & S_IWUSR) != 0;
}

static void examine(int fds, int32_t fd, int32_t pid, struct descriptor_search *searches,
		    size_t count)
{
	char name[16], link[DESCRIPTOR_LINK];
	ssize_t length;

	snprintf(name, sizeof(name), "%" PRId32, fd);
	length = readlinkat(fds, name, link, sizeof(link) - 1);
	if (length <= 0)
		return;
	link[length] = '\0';
	for (size_t i = 0; i < count; i++)
		if (strcmp(searches[i].link, link) == 0)
			add_holder(&searches[i], pid, fds, name);
}

/* Processes without memory have no descriptors that matter: kernel threads, and the dead. */
static bool has_descriptors(int process)
{
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;

	return task_stat_read(process, "stat", buffer, &stat) == 0 &&
	       !task_stat_is_kernel_thread(&stat) && !task_state_is_dead(task_stat_state(&stat));
}

/* False when the process is there, but its descriptors may not be read, or not in time. */
static bool examine_process(const struct host *host, int32_t pid,
			    struct descriptor_search *searches, size_t count, uint64_t deadline_ns)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers numbers = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	CLEANUP(close_fd) int fds = -1;

	if (process < 0 || !has_descriptors(process))
		return true;
	if (proc_list(process, "fd", &numbers) < 0)
		return !has_descriptors(process);
	fds = proc_open(process, "fd");
	for (size_t i = 0; fds >= 0 && i < numbers.list.count; i++) {
		if (monotonic_ns() >= deadline_ns)
			return false;
		examine(fds, numbers.list.data[i], pid, searches, count);
	}
	return true;
}

bool descriptor_holders_find(const struct host *host, struct descriptor_search *searches,
			     size_t count, uint64_t deadline_ns)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers pids = { 0 };
	bool is_complete = proc_list(host->proc, ".", &pids) >= 0;

	for (size_t i = 0; i < pids.list.count; i++) {
		if (monotonic_ns() >= deadline_ns)
			return false;
		is_complete &=
			examine_process(host, pids.list.data[i], searches, count, deadline_ns);
	}
	return is_complete;
}
