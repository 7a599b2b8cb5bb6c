/* SPDX-License-Identifier: MIT */
/* Moments that are kept: saved to a file, or marked, and compared with a later one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/output/place.h"
#include "model/snapshot/snapshot.h"
#include "store/snapshot_file.h"
#include "tui/act/act.h"
#include "tui/act/verb_page.h"
#include "tui/screen/top_state.h"

/* A file without a name, that holds the moment as a .tscope file does.  An fd, or a negative errno. */
static int keep(const struct snapshot *snapshot, struct error *error)
{
	CLEANUP(free_pointer) void *bytes = NULL;
	size_t size = 0, done = 0;
	int status = snapshot_encode(snapshot, &bytes, &size, error), fd;

	if (status < 0)
		return status;
	fd = memfd_create("moment", MFD_CLOEXEC);
	while (fd >= 0 && done < size) {
		ssize_t wrote = write(fd, (const char *)bytes + done, size - done);

		if (wrote <= 0) {
			status = wrote < 0 ? -errno : -EIO;
			close(fd);
			return error_set(error, status, "the moment cannot be kept: %s",
					 strerror(-status));
		}
		done += (size_t)wrote;
	}
	return fd < 0 ? error_set(error, -errno, "the moment cannot be kept: %s", strerror(errno)) :
			fd;
}

void act_mark(struct top *top)
{
	struct error error = { 0 };
	int fd = keep(top->moment.read, &error);

	if (fd < 0) {
		top_say(top, true, "%s", error.message);
		return;
	}
	if (top->marked_fd >= 0)
		close(top->marked_fd);
	top->marked_fd = fd;
	top_say(top, false, "this moment is marked: c compares a later one with it");
}

void act_compare(struct top *top)
{
	static const char *const words[] = { "compare", "-g",	     "process",	  "-n",
					     "40",	"/dev/fd/3", "/dev/fd/4", NULL };
	struct verb_run run = {
		.title = "Changes since the marked moment",
		.words = words,
		.file_count = 2,
	};
	struct error error = { 0 };
	int now;

	if (top->marked_fd < 0) {
		top_say(top, true, "no moment is marked: m marks one");
		return;
	}
	now = keep(top->moment.read, &error);
	if (now < 0) {
		top_say(top, true, "%s", error.message);
		return;
	}
	/* Away from the numbers that the child gives them. */
	run.files[0] = fcntl(top->marked_fd, F_DUPFD_CLOEXEC, 10);
	run.files[1] = fcntl(now, F_DUPFD_CLOEXEC, 10);
	close(now);
	if (run.files[0] >= 0 && run.files[1] >= 0)
		verb_page_open(top, &run);
	else
		top_say(top, true, "the moments cannot be compared: too many open files");
	for (int i = 0; i < 2; i++)
		if (run.files[i] >= 0)
			close(run.files[i]);
}

/* The name becomes ours first, so that no file of others is replaced; links of others lead nowhere. */
bool act_make_file(struct top *top, const char *path)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	int status = place_open(&place, path);
	int fd = status < 0 ? -1 :
			      openat(place.dir, place.name,
				     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (status == 0 && fd < 0)
		status = -errno;
	if (status < 0)
		top_say(top, true, "%s was not written: %s", path,
			status == -EEXIST ? "there is a file of that name" : strerror(-status));
	else
		close(fd);
	return status == 0;
}

bool act_forget_file(const char *path)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	struct stat file;

	return place_open(&place, path) == 0 &&
	       fstatat(place.dir, place.name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
	       file.st_size == 0 && unlinkat(place.dir, place.name, 0) == 0;
}

void act_save(struct top *top, const char *path)
{
	struct error error = { 0 };
	int status = snapshot_file_check_name(path, &error);

	if (status == 0 && strcmp(path, "-") == 0)
		status = error_set(&error, -EINVAL, "the screen is on standard output");
	if (status < 0) {
		top_say(top, true, "%s", error.message);
		return;
	}
	if (!act_make_file(top, path))
		return;
	status = snapshot_file_write(top->moment.read, path, &error);
	if (status < 0) {
		(void)act_forget_file(path);
		top_say(top, true, "%s", error.message);
	} else {
		top_say(top, false, "this moment was saved to %s", path);
	}
}
