/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"

#define RESOLVE_TRIES 100 /* who renames files all the time is not waited for */

int file_open_resolved(int dir, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC, .resolve = resolve };

	for (int i = 0; i < RESOLVE_TRIES; i++) {
		long fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));

		if (fd >= 0 || errno != EAGAIN)
			return fd < 0 ? -errno : (int)fd;
	}
	return -EAGAIN;
}

int file_open_below(int dir, const char *path, int flags)
{
	int fd = file_open_resolved(dir, path, flags, RESOLVE_BENEATH);

	if (fd != -ENOSYS)
		return fd;
	fd = openat(dir, path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
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

/* Renaming over a directory would fail late; over a device, it would replace the device. */
static int check_replaceable(const struct place *place)
{
	struct stat existing;

	if (fstatat(place->dir, place->name, &existing, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && !place->is_linked ? 0 : -errno;
	if (S_ISDIR(existing.st_mode))
		return -EISDIR;
	return S_ISREG(existing.st_mode) ? 0 : -EINVAL;
}

/* The temporary name is gone: unblocks signals. */
static void forget_name(struct file_replacement *file)
{
	file->temporary[0] = '\0';
	if (file->has_blocked)
		pthread_sigmask(SIG_SETMASK, &file->signals, NULL);
	file->has_blocked = false;
}

/* Chooses a temporary name and blocks signals. */
static int begin_name(struct file_replacement *file)
{
	uint64_t number;
	sigset_t all;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -EIO;
	snprintf(file->temporary, sizeof(file->temporary), ".taskscope-%016" PRIx64, number);
	sigfillset(&all);
	file->has_blocked = pthread_sigmask(SIG_BLOCK, &all, &file->signals) == 0;
	return 0;
}

static int open_named(struct file_replacement *file)
{
	int status = begin_name(file);

	if (status < 0)
		return status;
	file->fd = openat(file->place.dir, file->temporary,
			  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	status = file->fd < 0 ? -errno : 0;
	if (status < 0)
		forget_name(file);
	return status;
}

/* Whether a file without a name can be linked later, by the name of its descriptor in /proc. */
static bool has_link(int fd, char ret[static 32])
{
	snprintf(ret, 32, "/dev/fd/%d", fd);
	return access(ret, F_OK) == 0;
}

static int open_temporary(struct file_replacement *file)
{
	char link[32];

	file->fd = openat(file->place.dir, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (file->fd >= 0 && has_link(file->fd, link))
		return 0;
	close_fd(&file->fd);
	file->fd = -1;
	return open_named(file);
}

bool file_is_standard_output(const char *path)
{
	return path[0] == '-' && (!path[1] || (path[1] == '.' && !strchr(path, '/')));
}

int file_replace(struct file_replacement *file, const char *path)
{
	int status;

	*file = (struct file_replacement){ .fd = -1, .place = { .dir = -1 } };
	if (file_is_standard_output(path)) {
		file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return file->fd < 0 ? -errno : 0;
	}
	status = place_open(&file->place, path);
	if (status == 0)
		status = check_replaceable(&file->place);
	if (status == 0)
		status = open_temporary(file);
	if (status < 0)
		file_abandon(file);
	return status;
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
 * Makes the new name survive a power cut, as the bytes do.  A failure here is not reported: the
 * old file is already replaced, and a caller that got an error would expect to find it.
 */
static void sync_directory(const struct place *place)
{
	CLEANUP(close_fd)
	int dir = openat(place->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir >= 0)
		fsync(dir);
}

/* Gives the file its name, or a temporary one if that name exists already. */
static int link_file(struct file_replacement *file)
{
	int dir = file->place.dir, status;
	char link[32];

	if (!has_link(file->fd, link))
		return -ENOENT;
	if (linkat(AT_FDCWD, link, dir, file->place.name, AT_SYMLINK_FOLLOW) == 0)
		return 0;
	if (errno != EEXIST)
		return -errno;
	status = begin_name(file);
	if (status == 0 && linkat(AT_FDCWD, link, dir, file->temporary, AT_SYMLINK_FOLLOW) < 0) {
		status = -errno;
		forget_name(file);
	}
	return status;
}

int file_commit(struct file_replacement *file)
{
	int dir = file->place.dir;
	int status = 0;

	if (dir < 0) {
		file_abandon(file);
		return 0;
	}
	if (fsync(file->fd) < 0 && errno != EINVAL)
		return -errno;
	if (!file->temporary[0])
		status = link_file(file);
	if (status < 0)
		return status;
	if (file->temporary[0] && renameat(dir, file->temporary, dir, file->place.name) < 0)
		return -errno;
	forget_name(file);
	sync_directory(&file->place);
	file_abandon(file);
	return 0;
}

void file_abandon(struct file_replacement *file)
{
	close_fd(&file->fd);
	file->fd = -1;
	if (file->temporary[0])
		unlinkat(file->place.dir, file->temporary, 0);
	forget_name(file);
	place_close(&file->place);
}

#define OUTPUT_FLAGS (O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* Opens an existing pipe, terminal or device, unless others put it there. */
static int open_special(const struct place *place)
{
	int no_follow = place->is_kernels ? 0 : O_NOFOLLOW;
	CLEANUP(close_fd) int fd = openat(place->dir, place->name, OUTPUT_FLAGS | no_follow);
	struct stat file;

	if (fd < 0 || fstat(fd, &file) < 0)
		return -errno;
	if (place->is_shared && !place->is_kernels &&
	    (S_ISREG(file.st_mode) || !place_trusts(file.st_uid)))
		return -EACCES;
	return TAKE_FD(fd);
}

static int open_at(const struct place *place)
{
	struct stat file;
	int flags = place->is_shared ? O_EXCL : O_TRUNC, fd;

	if (fstatat(place->dir, place->name, &file, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISREG(file.st_mode))
			return open_special(place);
		if (place->is_shared && unlinkat(place->dir, place->name, 0) < 0)
			return -errno;
	}
	fd = openat(place->dir, place->name, OUTPUT_FLAGS | O_CREAT | O_NOFOLLOW | flags, 0600);
	return fd < 0 ? -errno : fd;
}

int file_open_output(const char *path)
{
	CLEANUP(place_close) struct place place;
	int status = place_open(&place, path);

	return status < 0 ? status : open_at(&place);
}

int file_make_folders(const char *path)
{
	CLEANUP(free_pointer) char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST && errno != EISDIR && errno != EROFS &&
		    errno != EACCES)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static const struct {
	int code;
	const char *advice;
} write_advice[] = {
	{ ENOSPC, "free some space or write elsewhere" },
	{ EDQUOT, "free some space or write elsewhere" },
	{ EFBIG, "raise the limit on file sizes (ulimit -f) or write elsewhere" },
	{ EACCES, "write to a directory that is yours, by a path without links of others" },
	{ EPERM, "write to a directory that is yours" },
	{ EROFS, "write to another file system" },
	{ ENOENT, "make its directory first" },
	{ ENOTDIR, "part of the path is a file, give another path" },
	{ EISDIR, "give the name of a file in it" },
	{ EINVAL, "it is not an ordinary file, give another name" },
	{ ENAMETOOLONG, "give a shorter name" },
};

const char *file_write_advice(int status)
{
	for (size_t i = 0; i < ARRAY_SIZE(write_advice); i++)
		if (write_advice[i].code == -status)
			return write_advice[i].advice;
	return "write elsewhere";
}
