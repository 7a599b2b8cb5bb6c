/* SPDX-License-Identifier: MIT */
#include "host/code/mount_trust.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#define MOUNTS_LIMIT ((size_t)16 << 20)

/* Lines of mountinfo begin with the number of the mount. */
static bool lists_mount(int process, uint64_t number)
{
	CLEANUP(text_free) struct text mounts = { 0 };
	char *rest, *line;

	if (file_read_text(process, "mountinfo", MOUNTS_LIMIT, &mounts) < 0)
		return false;
	rest = mounts.data;
	while ((line = strsep(&rest, "\n")))
		if (strtoull(line, NULL, 10) == number)
			return true;
	return false;
}

/* Whether the mount namespace of the process belongs to the user namespace that we are in. */
static bool is_of_our_users(int process, int self)
{
	CLEANUP(close_fd) int mounts = openat(process, "ns/mnt", O_RDONLY | O_CLOEXEC);
	CLEANUP(close_fd) int users = mounts < 0 ? -1 : ioctl(mounts, NS_GET_USERNS);
	struct stat its, ours;

	return users >= 0 && fstat(users, &its) == 0 && fstatat(self, "ns/user", &ours, 0) == 0 &&
	       its.st_ino == ours.st_ino && its.st_dev == ours.st_dev;
}

static bool is_mounted_by_us(int fd, int process)
{
	CLEANUP(close_fd) int self = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct statx place;

	if (self < 0 || statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &place) < 0 ||
	    !(place.stx_mask & STATX_MNT_ID))
		return false;
	if (is_of_our_users(self, self) && lists_mount(self, place.stx_mnt_id))
		return true;
	return process >= 0 && is_of_our_users(process, self) &&
	       lists_mount(process, place.stx_mnt_id);
}

bool mount_is_believed(int fd, int process)
{
	struct statfs mount;

	if (fstatfs(fd, &mount) < 0 || mount.f_type == FUSE_SUPER_MAGIC)
		return false;
	return mount.f_type != OVERLAYFS_SUPER_MAGIC || is_mounted_by_us(fd, process);
}
