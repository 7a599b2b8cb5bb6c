/* SPDX-License-Identifier: MIT */
#include "record/lines/rotated_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output/place.h"

/* A user may have one part in so many of a file. */
#define USER_PART 2

/*
 * Opens the file in its place to append: nobody else's link is followed, no other file of ours, and no
 * pipe that others put there to read along.
 */
static int open_appending(const struct place *place)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
	CLEANUP(close_fd) int fd = openat(place->dir, place->name, flags, 0600);
	struct stat file;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &file) < 0)
		return -errno;
	if ((S_ISREG(file.st_mode) || place->is_shared) && !place_trusts(file.st_uid))
		return -EACCES;
	if (S_ISREG(file.st_mode) && file.st_nlink > 1)
		return -EACCES;
	return TAKE_FD(fd);
}

static int open_file(struct rotated_lines *lines)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	CLEANUP(close_fd) int fd = -1;
	int status = 0;

	if (strcmp(lines->path, "-") == 0) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		lines->most_bytes = UINT64_MAX;
	} else {
		status = place_open(&place, lines->path);
		if (status == 0)
			fd = open_appending(&place);
	}
	if (status < 0 || fd < 0)
		return status < 0 ? status : fd;
	lines->out = fdopen(fd, "a");
	if (!lines->out)
		return -ENOMEM;
	TAKE_FD(fd);
	return lines_open(&lines->lines, lines->out);
}

static void close_file(struct rotated_lines *lines)
{
	lines_close(&lines->lines);
	if (lines->out)
		fclose(lines->out);
	lines->out = NULL;
}

int rotated_lines_open(struct rotated_lines *ret, const char *path, uint64_t most_bytes,
		       unsigned kept, struct error *error)
{
	int status;

	*ret = (struct rotated_lines){ .path = path, .most_bytes = most_bytes, .kept = kept };
	status = open_file(ret);
	ret->shares.share = ret->most_bytes / USER_PART;
	if (status < 0) {
		close_file(ret);
		ret->path = NULL;
		return error_set(error, status, "cannot write to '%s': %s: %s", path,
				 strerror(-status), file_write_advice(status));
	}
	return 0;
}

void rotated_lines_close(struct rotated_lines *lines)
{
	if (lines->out)
		(void)lines_flush(&lines->lines);
	close_file(lines);
}

FILE *rotated_lines_begin(struct rotated_lines *lines)
{
	return lines->out ? lines_begin(&lines->lines) : NULL;
}

FILE *rotated_lines_begin_of(struct rotated_lines *lines, int64_t uid)
{
	FILE *out = rotated_lines_begin(lines);

	lines->user = out ? line_shares_ask(&lines->shares, uid, monotonic_ns()) : NULL;
	return lines->user ? out : NULL;
}

void rotated_lines_end(struct rotated_lines *lines)
{
	if (lines->user)
		line_user_charge(lines->user, lines_printed(&lines->lines));
	lines->user = NULL;
	lines_end(&lines->lines);
}

static void numbered(const struct place *place, unsigned number, char ret[NAME_MAX + 1])
{
	if (number)
		snprintf(ret, NAME_MAX + 1, "%.*s.%u", NAME_MAX - 12, place->name, number);
	else
		snprintf(ret, NAME_MAX + 1, "%s", place->name);
}

/* Renames the oldest first, over the one that is dropped. */
static int rotate(struct rotated_lines *lines)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	int status = place_open(&place, lines->path);

	if (status < 0)
		return status;
	for (unsigned number = lines->kept; number > 0; number--) {
		numbered(&place, number - 1, from);
		numbered(&place, number, to);
		if (renameat(place.dir, from, place.dir, to) < 0 && errno != ENOENT)
			return -errno;
	}
	if (lines->kept == 0 && unlinkat(place.dir, place.name, 0) < 0)
		return -errno;
	close_file(lines);
	return open_file(lines);
}

int rotated_lines_flush(struct rotated_lines *lines)
{
	struct stat file;
	int status;

	if (!lines->path)
		return 0;
	if (!lines->out && open_file(lines) < 0) {
		lines->failures++;
		return -EIO;
	}
	status = lines_flush(&lines->lines);
	lines->lines.error = 0;
	if (fstat(fileno(lines->out), &file) == 0 && S_ISREG(file.st_mode) &&
	    (uint64_t)file.st_size >= lines->most_bytes) {
		int rotated = rotate(lines);

		status = status < 0 ? status : rotated;
	}
	lines->failures += status < 0;
	return status;
}
