/* SPDX-License-Identifier: MIT */
#include "host/confine/trusted_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/plain_file.h"

#define NOT_KNOWN 65534

bool file_is_unchanged(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
	       one->st_size == other->st_size && one->st_mtim.tv_sec == other->st_mtim.tv_sec &&
	       one->st_mtim.tv_nsec == other->st_mtim.tv_nsec &&
	       one->st_ctim.tv_sec == other->st_ctim.tv_sec &&
	       one->st_ctim.tv_nsec == other->st_ctim.tv_nsec;
}

static bool is_trusted_owner(uid_t owner)
{
	return owner == 0 || (owner == geteuid() && owner != NOT_KNOWN);
}

/* If an access list (ACL) lets others write, the mode shows a writable group. */
static bool is_written_by_trusted(int place, mode_t type, struct stat *ret)
{
	return fstat(place, ret) == 0 && (ret->st_mode & S_IFMT) == type &&
	       is_trusted_owner(ret->st_uid) && !(ret->st_mode & (S_IWGRP | S_IWOTH));
}

/* Whether we believe the file system about the owner. */
static bool is_owner_believed(int place, uid_t owner)
{
	struct statfs mount;

	return fstatfs(place, &mount) == 0 && mount.f_type != FUSE_SUPER_MAGIC &&
	       (owner != 0 || !(mount.f_flags & ST_NOSUID));
}

/* Opens (O_PATH) the first name of a path and moves *path to the rest, "" at its end. */
static int step(int directory, const char **path)
{
	size_t length = strcspn(*path, "/");
	char name[NAME_MAX + 1];
	int place;

	if (length == 0 || length > NAME_MAX)
		return -EINVAL;
	memcpy(name, *path, length);
	name[length] = '\0';
	*path += length;
	*path += strspn(*path, "/");
	place = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return place < 0 ? -errno : place;
}

static int find(const char *path)
{
	CLEANUP(close_fd) int place = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat directory;

	if (path[0] != '/')
		return -EINVAL;
	path += strspn(path, "/");
	do {
		int next;

		if (!is_written_by_trusted(place, S_IFDIR, &directory))
			return -EPERM;
		next = step(place, &path);
		if (next < 0)
			return next;
		close(place);
		place = next;
	} while (*path);
	return TAKE_FD(place);
}

int trusted_file_open(const char *path, const struct stat *wanted)
{
	CLEANUP(close_fd) int place = find(path);
	struct stat file;
	int fd;

	if (place < 0 || !is_written_by_trusted(place, S_IFREG, &file) ||
	    !is_owner_believed(place, file.st_uid) || (wanted && !file_is_unchanged(&file, wanted)))
		return -EKEYREJECTED;
	fd = plain_file_open(place);
	return fd < 0 ? -EKEYREJECTED : fd;
}
