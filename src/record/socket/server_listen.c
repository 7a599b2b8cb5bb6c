/* SPDX-License-Identifier: MIT */
/* Makes the recorder's socket. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/output/place.h"
#include "record/socket/server_client.h"

#define SOCKET_GROUP "taskscope"
#define LISTEN_BACKLOG 16

/* A socket that nobody listens at any more is in the way; it is removed only if it is ours. */
static int make_way(const struct sockaddr_un *address)
{
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat file;

	if (fd < 0)
		return -errno;
	if (lstat(address->sun_path, &file) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(file.st_mode) || file.st_uid != geteuid())
		return -EEXIST;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0 ||
	    errno != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(address->sun_path) < 0 ? -errno : 0;
}

/* Members of the group may connect, too; the kernel says who they are. */
static void share_with_group(const char *path)
{
	const struct group *group = getgrnam(SOCKET_GROUP);

	if (group && lchown(path, (uid_t)-1, group->gr_gid) < 0)
		return;
	/* Anyone who can write to the directory may have put a link in its place. */
	(void)!fchmodat(AT_FDCWD, path, 0660, AT_SYMLINK_NOFOLLOW);
}

static int make_folder(const char *path)
{
	CLEANUP(free_pointer) char *folder = strdup(path);
	char *slash = folder ? strrchr(folder, '/') : NULL;

	if (!folder)
		return -ENOMEM;
	if (!slash || slash == folder)
		return 0;
	*slash = '\0';
	return mkdir(folder, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

int server_listen(const struct sockaddr_un *address, int *ret)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	CLEANUP(close_fd) int fd = -1;
	int status = make_folder(address->sun_path);
	mode_t mask;

	if (status == 0)
		status = place_open(&place, address->sun_path);
	/* A socket is made and shared by its name, which others could lead elsewhere meanwhile. */
	if (status == 0 && place.is_exposed)
		status = -EACCES;
	if (status == 0)
		status = make_way(address);
	if (status < 0)
		return status;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0177);
	status = bind(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	umask(mask);
	if (status < 0)
		return status;
	share_with_group(address->sun_path);
	if (listen(fd, LISTEN_BACKLOG) < 0) {
		status = -errno;
		unlink(address->sun_path);
		return status;
	}
	*ret = TAKE_FD(fd);
	return 0;
}
