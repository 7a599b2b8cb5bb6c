#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

ssize_t file_read(int dir, const char *path, char *buffer, size_t capacity)
{
	CLEANUP(close_fd) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	size_t length = 0;

	if (fd < 0)
		return -errno;
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

int file_read_text(int dir, const char *path, size_t limit, struct text *ret)
{
	CLEANUP(close_fd) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	char chunk[16 * 1024];

	if (fd < 0)
		return -errno;
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

int file_replace(struct file_replacement *file, const char *path)
{
	struct stat existing;

	file->fd = -1;
	file->temporary[0] = '\0';
	if (strlen(path) >= sizeof(file->path))
		return -ENAMETOOLONG;
	/* Renaming over a directory or a device would fail late or replace what is no file. */
	if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode))
		return S_ISDIR(existing.st_mode) ? -EISDIR : -EINVAL;
	snprintf(file->path, sizeof(file->path), "%s", path);
	snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", path);
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

/* The new name must survive a power cut as well as the bytes do. */
static int sync_directory(const char *path)
{
	CLEANUP(free_pointer) char *copy = strdup(path);
	CLEANUP(close_fd) int dir = -1;

	if (!copy)
		return -ENOMEM;
	dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fsync(dir) < 0)
		return errno == EINVAL || errno == EACCES ? 0 : -errno;
	return 0;
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
	return sync_directory(file->path);
}

void file_abandon(struct file_replacement *file)
{
	close_fd(&file->fd);
	file->fd = -1;
	if (file->temporary[0])
		unlink(file->temporary);
	file->temporary[0] = '\0';
}
