/* SPDX-License-Identifier: MIT */
#include "collect/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "collect/collector.h"

#define NS_PER_SECOND 1000000000u

int executables_begin(struct capture *capture)
{
	if (!capture->host->live || !source_wanted(capture, SOURCE_JEMALLOC))
		return 0;
	/* Never of no bytes, which calloc() may answer with NULL. */
	capture->images = calloc(capture->snapshot->process_count + 1, sizeof(*capture->images));
	return capture->images ? 0 : -ENOMEM;
}

/* The link of a process that has just been reaped is refused like that of a stranger. */
static int link_error(int dir, int error)
{
	struct stat file;

	if (error == EACCES && fstatat(dir, "stat", &file, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return -error;
}

/* What the kernel knows of the file will do: a server that does not answer is not asked. */
static void read_image(int dir, struct process_image *image)
{
	struct statx file;

	if (statx(dir, "exe", AT_STATX_DONT_SYNC, STATX_INO | STATX_MTIME, &file) < 0) {
		image->error = is_vanished(-errno) ? 0 : link_error(dir, errno);
		return;
	}
	image->device = makedev(file.stx_dev_major, file.stx_dev_minor);
	image->inode = file.stx_ino;
	/* Only ever compared, so that a time beyond all others, which anyone can set, may wrap. */
	image->changed_ns =
		(int64_t)((uint64_t)file.stx_mtime.tv_sec * NS_PER_SECOND + file.stx_mtime.tv_nsec);
	image->present = true;
}

/* To know that there is none is an answer, but a recording's silence is not. */
static void count_none(struct capture *capture)
{
	capture->tallies[SOURCE_EXE].read += capture->host->live;
}

static int read_path(struct capture *capture, int dir, struct process *process)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(dir, "exe", path, sizeof(path));

	if (length < 0 && errno == ENOENT && capture->host->live) {
		count_none(capture);
		return 0;
	}
	source_count_file(capture, &capture->tallies[SOURCE_EXE],
			  length < 0 ? link_error(dir, errno) : length);
	if (length <= 0)
		return 0;
	return snapshot_intern(capture->snapshot, path, (size_t)length, &process->exe);
}

int executable_read(struct capture *capture, int dir, uint32_t process_row, bool memory)
{
	if (capture->images && memory)
		read_image(dir, &capture->images[process_row]);
	if (!source_wanted(capture, SOURCE_EXE))
		return 0;
	if (!memory) {
		count_none(capture);
		return 0;
	}
	return read_path(capture, dir, &capture->snapshot->processes[process_row]);
}

void executables_end(struct capture *capture)
{
	struct source_tally *tally = &capture->tallies[SOURCE_EXE];

	if (!capture->host->live && source_wanted(capture, SOURCE_EXE) && !tally->read &&
	    !tally->failed)
		source_set_missing(tally, NOT_RECORDED);
}
