/* SPDX-License-Identifier: MIT */
#include "host/user_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "base/text.h"

#define MOUNTS_LIMIT ((size_t)16 << 20)

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

/* Without asking the file system. */
static bool find_mount(int fd, uint64_t *ret)
{
	struct statx place;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &place) < 0 ||
	    !(place.stx_mask & STATX_MNT_ID))
		return false;
	*ret = place.stx_mnt_id;
	return true;
}

/*
 * Whether another program or host answers for the file system that a line of mountinfo describes:
 * "36 35 98:0 / /mnt rw - ext4 /dev/root rw".
 */
static bool is_answered_by_others(const char *line)
{
	static const char *const kinds[] = { " - fuse", " - nfs",  " - cifs", " - smb3",
					     " - 9p",	" - ceph", " - afs",  " - autofs" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strstr(line, kinds[i]))
			return true;
	return false;
}

static bool is_local(uint64_t mount)
{
	CLEANUP(close_fd) int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(text_free) struct text mounts = { 0 };
	char *rest, *line;

	if (self < 0 || file_read_text(self, "mountinfo", MOUNTS_LIMIT, &mounts) < 0)
		return false;
	rest = mounts.data;
	while ((line = strsep(&rest, "\n")))
		if (strtoull(line, NULL, 10) == mount)
			return !is_answered_by_others(line);
	return false;
}

/* Whether a part may be looked at: it is on the mount of the one above, or on another that answers. */
static bool is_answering(int above, int fd)
{
	uint64_t mount, upper;

	if (!find_mount(fd, &mount))
		return false;
	return (above >= 0 && find_mount(above, &upper) && upper == mount) || is_local(mount);
}

/* One part; with `lists`, names in it may be read. */
static int open_part(uid_t uid, int directory, const char *name, bool lists)
{
	CLEANUP(close_fd)
	int fd = openat(directory, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_PATH);
	struct stat status;
	int listed;

	if (fd < 0)
		return errno == ENOTDIR ? -ELOOP : -errno;
	if (!is_answering(directory, fd))
		return -EREMOTE;
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!may(uid, &status, S_IXUSR, S_IXOTH) || (lists && !may(uid, &status, S_IRUSR, S_IROTH)))
		return -EACCES;
	if (!lists)
		return TAKE_FD(fd);
	listed = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return listed < 0 ? -errno : listed;
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
