/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

int file_open_below(int dir, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH };
	long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOSYS)
		fd = openat(dir, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

ssize_t file_read(int dir, const char *path, char *buffer, size_t capacity)
{
	CLEANUP(close_fd) int fd = file_open_below(dir, path, O_RDONLY | O_NONBLOCK);
	size_t length = 0;

	if (fd < 0)
		return fd;
	while (length < capacity) {
		ssize_t got = read(fd, buffer + length, capacity - length);

		if (got < 0)
			return -errno;
		if (got == 0) {
			buffer[length] = '\0';
			return (ssize_t)length;
		}
		length += (size_t)got;
	}
	return -EFBIG;
}

ssize_t file_read_at(int fd, uint64_t offset, void *buffer, size_t size)
{
	size_t length = 0;

	while (length < size) {
		ssize_t got =
			pread(fd, (char *)buffer + length, size - length, (off_t)(offset + length));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

int file_read_text(int dir, const char *path, size_t limit, struct text *ret)
{
	CLEANUP(close_fd) int fd = file_open_below(dir, path, O_RDONLY | O_NONBLOCK);
	char chunk[16 * 1024];

	if (fd < 0)
		return fd;
	text_clear(ret);
	for (;;) {
		ssize_t got = read(fd, chunk, sizeof(chunk));

		if (got < 0)
			return -errno;
		if (got == 0)
			return ret->failed ? -ENOMEM : 0;
		if (ret->length + (size_t)got > limit)
			return -EFBIG;
		text_append(ret, chunk, (size_t)got);
	}
}

/* Renaming over a directory or a device would fail late or replace what is no file. */
static int check_replaceable(const char *path)
{
	struct stat existing;

	/* It is the kernel that follows links here: one that it distrusts is refused. */
	if (stat(path, &existing) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(existing.st_mode))
		return -EISDIR;
	return S_ISREG(existing.st_mode) ? 0 : -EINVAL;
}

/* A link stays; what it points to is replaced. */
static int find_destination(const char *path, char ret[PATH_MAX])
{
	struct stat existing;

	if (lstat(path, &existing) == 0 && S_ISLNK(existing.st_mode))
		return realpath(path, ret) ? 0 : -errno;
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	snprintf(ret, PATH_MAX, "%s", path);
	return 0;
}

/* In the same directory, and not longer than the longest name that a file can have. */
static void name_temporary(struct file_replacement *file)
{
	const char *slash = strrchr(file->path, '/');
	int directory = slash ? (int)(slash - file->path) + 1 : 0;

	snprintf(file->temporary, sizeof(file->temporary), "%.*s.taskscope-XXXXXX", directory,
		 file->path);
}

int file_replace(struct file_replacement *file, const char *path)
{
	int status = check_replaceable(path);

	file->fd = -1;
	file->temporary[0] = '\0';
	if (status == 0)
		status = find_destination(path, file->path);
	if (status < 0)
		return status;
	name_temporary(file);
	file->fd = mkostemp(file->temporary, O_CLOEXEC);
	if (file->fd < 0) {
		file->temporary[0] = '\0'; /* no file of ours has that name */
		return -errno;
	}
	return 0;
}

int file_write(struct file_replacement *file, const void *bytes, size_t length)
{
	const char *next = bytes;

	while (length) {
		ssize_t written = write(file->fd, next, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		next += written;
		length -= (size_t)written;
	}
	return 0;
}

/*
 * The new name should survive a power cut as well as the bytes do.  Failing here
 * is no error: the old file is replaced by then, and a caller that was told
 * otherwise would look for it.
 */
static void sync_directory(const char *path)
{
	CLEANUP(free_pointer) char *copy = strdup(path);
	CLEANUP(close_fd) int dir = -1;

	if (!copy)
		return;
	dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0)
		fsync(dir);
}

int file_commit(struct file_replacement *file)
{
	if (fsync(file->fd) < 0 && errno != EINVAL)
		return -errno;
	if (close(TAKE_FD(file->fd)) < 0)
		return -errno;
	if (rename(file->temporary, file->path) < 0)
		return -errno;
	file->temporary[0] = '\0';
	sync_directory(file->path);
	return 0;
}

void file_abandon(struct file_replacement *file)
{
	close_fd(&file->fd);
	file->fd = -1;
	if (file->temporary[0])
		unlink(file->temporary);
	file->temporary[0] = '\0';
}
