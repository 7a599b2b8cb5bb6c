/* SPDX-License-Identifier: MIT */
#include "host/proc/proc_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/order.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"

#define BUFFER_FIRST ((size_t)16 * 1024)
#define BUFFER_LIMIT ((size_t)1024 * 1024)
#define LISTING_BYTES (32 * 1024)

void proc_buffer_clear(struct proc_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct proc_buffer){ 0 };
}

/*
 * procfs returns a file in one piece if there is room: a short read means the end.  Does not wait
 * if there is a pipe in a recorded tree.
 */
ssize_t proc_read(int dir, const char *name, struct proc_buffer *buffer)
{
	CLEANUP(close_fd) int fd = file_open_below(dir, name, O_RDONLY | O_NONBLOCK);

	return fd < 0 ? fd : proc_read_fd(fd, buffer);
}

ssize_t proc_read_fd(int fd, struct proc_buffer *buffer)
{
	size_t length = 0;
	ssize_t got;

	for (;;) {
		size_t room = buffer->capacity ? buffer->capacity - length - 1 : 0;

		if (room == 0) {
			size_t wanted = buffer->capacity ? buffer->capacity * 2 : BUFFER_FIRST;

			if (wanted > BUFFER_LIMIT)
				return -EFBIG;
			if (array_reserve(buffer, wanted) < 0)
				return -ENOMEM;
			continue;
		}
		got = read(fd, buffer->data + length, room);
		if (got < 0)
			return -errno;
		length += (size_t)got;
		if ((size_t)got < room)
			break;
	}
	buffer->data[length] = '\0';
	return (ssize_t)length;
}

ssize_t proc_read_start(int dir, const char *name, char *buffer, size_t capacity)
{
	CLEANUP(close_fd) int fd = file_open_below(dir, name, O_RDONLY | O_NONBLOCK);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, buffer, capacity - 1);
	if (length < 0)
		return -errno;
	buffer[length] = '\0';
	return length;
}

int proc_open(int dir, const char *name)
{
	return file_open_below(dir, name, O_PATH | O_DIRECTORY);
}

int proc_open_number(int dir, int32_t number)
{
	char name[16];

	snprintf(name, sizeof(name), "%" PRId32, number);
	return proc_open(dir, name);
}

int proc_open_thread(int proc, int32_t pid, int32_t tid)
{
	char path[48];

	snprintf(path, sizeof(path), "%" PRId32 "/task/%" PRId32, pid, tid);
	return proc_open(proc, path);
}

void proc_numbers_clear(struct proc_numbers *numbers)
{
	array_free(&numbers->list);
}

static int add_entries(const char *entries, size_t length, struct proc_numbers *numbers)
{
	for (size_t offset = 0; offset < length;) {
		const struct dirent64 *entry = (const void *)(entries + offset);
		uint64_t number;

		if (parse_u64(entry->d_name, &number) && number <= INT32_MAX &&
		    array_append(&numbers->list, (int32_t)number) < 0)
			return -ENOMEM;
		offset += entry->d_reclen;
	}
	return 0;
}

static void sort_numbers(struct proc_numbers *numbers)
{
	int32_t *data = numbers->list.data;

	for (size_t i = 1; i < numbers->list.count; i++)
		if (data[i - 1] > data[i]) {
			qsort(data, numbers->list.count, sizeof(*data), compare_i32);
			return;
		}
}

int proc_list(int dir, const char *path, struct proc_numbers *ret)
{
	CLEANUP(close_fd) int fd = file_open_below(dir, path, O_RDONLY | O_DIRECTORY);
	_Alignas(struct dirent64) char entries[LISTING_BYTES];
	ssize_t length;

	ret->list.count = 0;
	if (fd < 0)
		return fd;
	while ((length = getdents64(fd, entries, sizeof(entries))) > 0)
		if (add_entries(entries, (size_t)length, ret) < 0)
			return -ENOMEM;
	if (length < 0)
		return -errno;
	sort_numbers(ret);
	return 0;
}

int proc_list_threads(int proc, int32_t pid, struct proc_numbers *ret)
{
	char path[32];

	snprintf(path, sizeof(path), "%" PRId32 "/task", pid);
	return proc_list(proc, path, ret);
}

bool proc_numbers_are_ours(const struct host *host)
{
	char self[32];
	ssize_t length;
	uint64_t pid;

	if (!host->live)
		return false;
	length = readlinkat(host->proc, "self", self, sizeof(self) - 1);
	if (length < 0)
		return false;
	self[length] = '\0';
	return parse_u64(self, &pid) && pid == (uint64_t)getpid();
}
