/* SPDX-License-Identifier: MIT */
#include "host/user_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Our own rights are those of the user: the kernel's answer is all that counts. */
static bool is_self(uid_t uid)
{
	return geteuid() == uid;
}

static bool may(uid_t uid, const struct stat *status, mode_t owner, mode_t others)
{
	mode_t wanted = status->st_uid == uid ? owner : others;

	return is_self(uid) || (status->st_mode & wanted) == wanted;
}

/* One part; with `lists`, names in it may be read. */
static int open_part(uid_t uid, int directory, const char *name, bool lists)
{
	CLEANUP(close_fd)
	int fd = openat(directory, name,
			O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | (lists ? O_RDONLY : O_PATH));
	struct stat status;

	if (fd < 0)
		return errno == ENOTDIR ? -ELOOP : -errno;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!may(uid, &status, S_IXUSR, S_IXOTH) || (lists && !may(uid, &status, S_IRUSR, S_IROTH)))
		return -EACCES;
	return TAKE_FD(fd);
}

static int walk(uid_t uid, int directory, const char *path)
{
	CLEANUP(close_fd) int fd = -1;

	for (;;) {
		size_t length = strcspn(path, "/");
		const char *rest = path + length + strspn(path + length, "/");
		char name[NAME_MAX + 1];
		int next;

		if (length > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, length);
		name[length] = '\0';
		if (strcmp(name, "..") == 0)
			return -EINVAL;
		next = open_part(uid, fd < 0 ? directory : fd, length ? name : ".", !*rest);
		close_fd(&fd);
		fd = next;
		if (fd < 0 || !*rest)
			return TAKE_FD(fd);
		path = rest;
	}
}

/* Rights to files of this thread alone; with them go all capabilities that override modes. */
static uid_t become(uid_t uid)
{
	return is_self(uid) ? uid : (uid_t)setfsuid(uid);
}

int user_directory_open_below(uid_t uid, int directory, const char *name)
{
	uid_t before = become(uid);
	int fd = walk(uid, directory, name);

	setfsuid(before);
	return fd;
}

int user_directory_open(uid_t uid, const char *path)
{
	uid_t before = become(uid);
	CLEANUP(close_fd) int top = path[0] == '/' ? open_part(uid, AT_FDCWD, "/", false) : -EINVAL;
	int fd = top < 0 ? top : walk(uid, top, path + strspn(path, "/"));

	setfsuid(before);
	return fd;
}

int user_directory_watch(uid_t uid, int inotify, int directory, uint32_t events)
{
	uid_t before = become(uid);
	char path[32];
	int watch;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", directory);
	watch = inotify_add_watch(inotify, path, events);
	watch = watch < 0 ? -errno : watch;
	setfsuid(before);
	return watch;
}
