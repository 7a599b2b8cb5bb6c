/* SPDX-License-Identifier: MIT */
/* Whether a process still has the file open that it locked, or the open file of one that has ended. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"
#include "host/wait/file_locks.h"
#include "session/wait/wait_object.h"

#define DESCRIPTORS_MAX 4096
#define INFO_BYTES 4096

bool wait_descriptor_inode(struct deadline_threads *reader, int32_t pid, int process, uint64_t fd,
			   uint64_t *ret, bool *is_late)
{
	char path[32], text[INFO_BYTES];
	ssize_t length;

	if (fd > INT32_MAX)
		return false;
	snprintf(path, sizeof(path), "fdinfo/%" PRIu64, fd);
	length = deadline_read(reader, pid, process, path, text, sizeof(text));
	*is_late |= length == -ETIMEDOUT;
	return length >= 0 && task_status_number(text, "ino", ret);
}

static enum wait_answer search_descriptors(const struct wait_process *asking, int32_t pid,
					   uint64_t inode)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers fds = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(asking->host->proc, pid);
	bool is_late = false;
	uint64_t found;

	if (process < 0)
		return ANSWER_NO;
	if (proc_list(process, "fd", &fds) < 0)
		return ANSWER_NOT_KNOWN;
	for (size_t i = 0; i < fds.list.count && i < DESCRIPTORS_MAX && !is_late; i++) {
		if (wait_descriptor_inode(asking->reader, pid, process, (uint64_t)fds.list.data[i],
					  &found, &is_late) &&
		    found == inode)
			return ANSWER_YES;
		is_late |= monotonic_ns() >= asking->deadline_ns;
	}
	return is_late || fds.list.count > DESCRIPTORS_MAX ? ANSWER_NOT_KNOWN : ANSWER_NO;
}

/* A line "lock:" of fdinfo has a lock of that open file, as /proc/locks would. */
static bool tells_lock(const char *info, enum file_lock_kind kind)
{
	static const char key[] = "\nlock:\t";
	const char *line = strstr(info, key);

	for (; line; line = strstr(line + 1, key)) {
		CLEANUP(file_locks_clear) struct file_locks locks = { 0 };

		if (file_locks_parse(line + sizeof(key) - 1, &locks) == 0 && locks.list.count &&
		    locks.list.data[0].kind == kind)
			return true;
	}
	return false;
}

static bool links_to(int process, int32_t fd, const char *path)
{
	char name[32], link[WAIT_OBJECT_NAME];
	ssize_t length;

	snprintf(name, sizeof(name), "fd/%" PRId32, fd);
	length = readlinkat(process, name, link, sizeof(link) - 1);
	if (length <= 0)
		return false;
	link[length] = '\0';
	return strcmp(link, path) == 0;
}

enum wait_answer wait_has_lock(const struct wait_process *asking, int32_t pid, const char *path,
			       enum file_lock_kind kind)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers fds = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(asking->host->proc, pid);

	if (process < 0)
		return ANSWER_NO;
	if (proc_list(process, "fd", &fds) < 0 || fds.list.count > DESCRIPTORS_MAX)
		return ANSWER_NOT_KNOWN;
	for (size_t i = 0; i < fds.list.count; i++) {
		char name[32], info[INFO_BYTES];
		ssize_t length;

		if (monotonic_ns() >= asking->deadline_ns)
			return ANSWER_NOT_KNOWN;
		if (!links_to(process, fds.list.data[i], path))
			continue;
		snprintf(name, sizeof(name), "fdinfo/%" PRId32, fds.list.data[i]);
		length = deadline_read(asking->reader, pid, process, name, info, sizeof(info));
		if (length < 0)
			return ANSWER_NOT_KNOWN;
		if (tells_lock(info, kind))
			return ANSWER_YES;
		if (length == sizeof(info) - 1) /* there may be more */
			return ANSWER_NOT_KNOWN;
	}
	return ANSWER_NO;
}

void wait_open_files_clear(struct wait_open_files *files)
{
	free(files->list.data);
	*files = (struct wait_open_files){ 0 };
}

enum wait_answer wait_has_inode_open(const struct wait_process *asking,
				     struct wait_open_files *known, int32_t pid, uint64_t inode)
{
	struct wait_open_file file = { .pid = pid, .inode = inode };

	for (size_t i = 0; i < known->list.count; i++)
		if (known->list.data[i].pid == pid && known->list.data[i].inode == inode)
			return known->list.data[i].answer;
	file.answer = search_descriptors(asking, pid, inode);
	(void)array_append(&known->list, file); /* without memory it is searched for again */
	return file.answer;
}
