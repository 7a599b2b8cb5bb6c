/* SPDX-License-Identifier: MIT */
#include "base/output/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

/* How many links are followed; the kernel has the same limit. */
#define LINKS_MAX 40
#define MOUNTINFO_LIMIT ((size_t)16 << 20)

/* The state of a walk along a path. */
struct walk {
	int dir;
	bool is_strange; /* others own a directory on the way and can move what is below it */
	struct stat directory;
	char rest[PATH_MAX]; /* the part still to walk, without slashes before it */
	unsigned int links;
};

/* In a user namespace root may show as nobody: trust the owner of the root directory, too. */
bool place_trusts(unsigned int owner)
{
	struct stat root;

	return owner == 0 || owner == geteuid() || (stat("/", &root) == 0 && owner == root.st_uid);
}

/*
 * Whether somebody else can rename entries of the directory: then even a link that we own need not
 * be where we put it.
 */
static bool is_rearranged(const struct stat *directory)
{
	bool is_our_group = directory->st_gid == 0 || directory->st_gid == getegid();
	mode_t others = is_our_group ? S_IWOTH : S_IWOTH | S_IWGRP;

	return directory->st_mode & others && !(directory->st_mode & S_ISVTX);
}

/* Whether others own the directory, or can move what is in it. */
static bool is_strange(const struct stat *directory)
{
	return !place_trusts(directory->st_uid) || is_rearranged(directory);
}

/*
 * Finds in mountinfo who mounted the file system of that device; false when it is not known.  The
 * last word of a line has the options as the kernel writes them.
 */
static bool find_mounter(dev_t device, unsigned int *ret)
{
	CLEANUP(close_fd) int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(text_free) struct text mounts = { 0 };
	char number[32], *rest, *line;

	snprintf(number, sizeof(number), " %u:%u ", major(device), minor(device));
	if (proc < 0 || file_read_text(proc, "self/mountinfo", MOUNTINFO_LIMIT, &mounts) < 0)
		return false;
	rest = mounts.data;
	while ((line = strsep(&rest, "\n"))) {
		const char *place = strstr(line, number), *options = strrchr(line, ' ');
		const char *user = options ? strstr(options, "user_id=") : NULL;

		if (!place || strchr(line, '/') < place)
			continue;
		/* Only root can mount one that names no user. */
		*ret = user ? (unsigned int)strtoul(user + strlen("user_id="), NULL, 10) : 0;
		return true;
	}
	return false;
}

/*
 * Whether somebody else answers for the file system, who may say of any file that it is ours, and
 * need not say of which type it is.
 */
static bool is_invented(int dir, const struct stat *directory)
{
	struct statfs filesystem;
	unsigned int mounter;

	if (fstatfs(dir, &filesystem) == 0 && filesystem.f_type != FUSE_SUPER_MAGIC)
		return false;
	return !find_mounter(directory->st_dev, &mounter) || !place_trusts(mounter);
}

static int enter(struct walk *walk, int dir)
{
	if (dir < 0)
		return -errno;
	close_fd(&walk->dir);
	walk->dir = dir;
	if (fstat(dir, &walk->directory) < 0)
		return -errno;
	walk->is_strange |= is_strange(&walk->directory) || is_invented(dir, &walk->directory);
	return 0;
}

/* Replaces the part still to walk. */
static int set_rest(struct walk *walk, const char *path, const char *after)
{
	char rest[2 * PATH_MAX];
	int length = snprintf(rest, sizeof(rest), "%s/%s", path, after);
	int status = 0;

	if (length >= PATH_MAX)
		return -ENAMETOOLONG;
	if (rest[0] == '/') {
		walk->is_strange = false;
		status = enter(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	}
	snprintf(walk->rest, sizeof(walk->rest), "%s", rest + strspn(rest, "/"));
	return status;
}

static bool is_procfs(int dir)
{
	struct statfs filesystem;

	return fstatfs(dir, &filesystem) == 0 && filesystem.f_type == PROC_SUPER_MAGIC;
}

/* Owner and target are read from one descriptor, so that the link cannot be swapped in between. */
static int follow(struct walk *walk, const char *name, const char *after)
{
	CLEANUP(close_fd) int fd = openat(walk->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char target[PATH_MAX];
	struct stat link;
	ssize_t length;

	if (fd < 0 || fstat(fd, &link) < 0)
		return -errno;
	if (!S_ISLNK(link.st_mode))
		return -ENOTDIR;
	if (walk->is_strange || !place_trusts(link.st_uid) || link.st_nlink != 1)
		return -EACCES;
	if (++walk->links > LINKS_MAX)
		return -ELOOP;
	length = readlinkat(fd, "", target, sizeof(target) - 1);
	if (length < 0)
		return -errno;
	target[length] = '\0';
	return length ? set_rest(walk, target, after) : -ENOENT;
}

/* Walks one directory further; `after` is then the part still to walk. */
static int step(struct walk *walk, const char *name, const char *after)
{
	int no_follow = is_procfs(walk->dir) ? 0 : O_NOFOLLOW;
	bool is_up = strcmp(name, "..") == 0, from_strange = walk->is_strange;
	int dir = openat(walk->dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC | no_follow);
	int status;

	if (dir < 0 && (errno == ENOTDIR || errno == ELOOP))
		return follow(walk, name, after);
	status = enter(walk, dir);
	memmove(walk->rest, after, strlen(after) + 1);
	/* Others can move their directory to a place where its parent is one of ours. */
	if (status == 0 && is_up && from_strange && !is_strange(&walk->directory))
		return -EACCES;
	return status;
}

/* Handles the end of the path: a name in the directory (*ret_done is true), or a link to follow. */
static int arrive(struct walk *walk, struct place *place, const char *name, bool *ret_done)
{
	struct stat file;

	*ret_done = true;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return -EISDIR;
	if (fstatat(walk->dir, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(file.st_mode)) {
		place->is_kernels = is_procfs(walk->dir);
		place->is_linked = true;
		*ret_done = place->is_kernels;
	}
	if (!*ret_done)
		return follow(walk, name, "");
	snprintf(place->name, sizeof(place->name), "%s", name);
	place->is_shared = walk->is_strange || walk->directory.st_mode & (S_IWGRP | S_IWOTH);
	/* In a sticky directory nobody can rename what is not theirs. */
	place->is_exposed =
		walk->is_strange || (place->is_shared && !(walk->directory.st_mode & S_ISVTX));
	place->dir = TAKE_FD(walk->dir);
	return 0;
}

/* Walks the next part of the path; *ret_done stays false while there is more. */
static int advance(struct walk *walk, struct place *place, bool *ret_done)
{
	size_t length = strcspn(walk->rest, "/");
	const char *after = walk->rest + length + strspn(walk->rest + length, "/");
	char name[NAME_MAX + 1];

	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	if (length == 0)
		return -EISDIR;
	memcpy(name, walk->rest, length);
	name[length] = '\0';
	return *after ? step(walk, name, after) : arrive(walk, place, name, ret_done);
}

int place_open(struct place *place, const char *path)
{
	struct walk walk = { .dir = -1 };
	bool done = false;
	int status;

	*place = (struct place){ .dir = -1 };
	if (!path[0])
		return -ENOENT;
	if (path[strlen(path) - 1] == '/')
		return -EISDIR;
	/* An absolute path needs no working directory, which we may not be allowed to open. */
	status = path[0] == '/' ? 0 : enter(&walk, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (status == 0)
		status = set_rest(&walk, path, "");
	while (status == 0 && !done)
		status = advance(&walk, place, &done);
	close_fd(&walk.dir);
	return status;
}

void place_close(struct place *place)
{
	close_fd(&place->dir);
	place->dir = -1;
}
