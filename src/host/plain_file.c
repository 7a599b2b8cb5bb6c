/* SPDX-License-Identifier: MIT */
#include "host/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

int plain_file_find(int root, const char *path)
{
	return file_open_resolved(root, path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

int plain_file_open(int place)
{
	struct stat file;
	char path[64];
	int fd;

	if (fstat(place, &file) < 0)
		return -errno;
	if (!S_ISREG(file.st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
