/* SPDX-License-Identifier: MIT */
#include "collect/process/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/collector.h"

int executables_begin(struct capture *capture)
{
	if (!capture->host->live || !source_wanted(capture, SOURCE_JEMALLOC))
		return 0;
	/* Plus 1, since calloc() of 0 bytes may return NULL. */
	capture->images = calloc(capture->snapshot->process_count + 1, sizeof(*capture->images));
	return capture->images ? 0 : -ENOMEM;
}

/* Reading the link of a process that was just reaped gives the same errno as a missing right. */
static int link_error(int dir, int error)
{
	struct stat file;

	if (error == EACCES && fstatat(dir, "stat", &file, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return -error;
}

/* What the kernel has cached about the file is enough: do not wait for a file server. */
static void read_image(int dir, struct process_image *image)
{
	struct statx file;

	if (statx(dir, "exe", AT_STATX_DONT_SYNC, STATX_INO | STATX_MTIME, &file) < 0) {
		image->error = is_vanished(-errno) ? 0 : link_error(dir, errno);
		return;
	}
	image->device = makedev(file.stx_dev_major, file.stx_dev_minor);
	image->inode = file.stx_ino;
	/*
	 * Anyone can set a huge time, which wraps here.  That is harmless: times are only
	 * compared.
	 */
	image->changed_ns =
		(int64_t)((uint64_t)file.stx_mtime.tv_sec * NS_PER_SECOND + file.stx_mtime.tv_nsec);
	image->present = true;
}

/*
 * Counts a process that is known to run no program.  In a recording, a missing link does not show
 * that.
 */
static void count_none(struct capture *capture)
{
	capture->tallies[SOURCE_EXE].read += capture->host->live;
}

static int read_path(struct capture *capture, int dir, const char *link, struct process *process)
{
	char path[PATH_MAX];
	ssize_t length = readlinkat(dir, link, path, sizeof(path));

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
	return read_path(capture, dir, "exe", &capture->snapshot->processes[process_row]);
}

void executable_note(struct capture *capture, uint32_t process_row,
		     const struct walked_process *walked)
{
	if (capture->images)
		capture->images[process_row] = (struct process_image){
			.present = true,
			.device = walked->exe_device,
			.inode = walked->exe_inode,
		};
}

void executable_note_none(struct capture *capture)
{
	if (source_wanted(capture, SOURCE_EXE))
		count_none(capture);
}

/* A slot holds the latest path with its hash. */
static struct program_path *program_place(struct capture *capture, const uint64_t path[2])
{
	uint64_t hash = (path[0] ^ path[1] >> 5) * 0x9e3779b97f4a7c15ull;

	return &capture->programs[hash >> 56 & (PROGRAM_PATHS - 1)];
}

int executable_find(struct capture *capture, uint32_t process_row,
		    const struct walked_process *walked, uint32_t *ret_row)
{
	struct process *process = &capture->snapshot->processes[process_row];
	struct program_path *known = program_place(capture, walked->exe_path);
	char link[32];
	int status;

	*ret_row = process_row;
	if (!source_wanted(capture, SOURCE_EXE))
		return 0;
	if (known->exe && memcmp(known->path, walked->exe_path, sizeof(known->path)) == 0) {
		source_count(&capture->tallies[SOURCE_EXE], 0);
		process->exe = known->exe;
		*ret_row = known->row;
		return 0;
	}
	snprintf(link, sizeof(link), "%" PRId32 "/exe", process->tgid);
	status = read_path(capture, capture->host->proc, link, process);
	memcpy(known->path, walked->exe_path, sizeof(known->path));
	known->exe = process->exe;
	known->row = process_row;
	return status;
}

int executable_read_path(struct capture *capture, int dir, uint32_t process_row)
{
	struct process *process = &capture->snapshot->processes[process_row];

	process->exe = 0;
	return read_path(capture, dir, "exe", process);
}

void executables_end(struct capture *capture)
{
	struct source_tally *tally = &capture->tallies[SOURCE_EXE];

	if (!capture->host->live && source_wanted(capture, SOURCE_EXE) && !tally->read &&
	    !tally->failed)
		source_set_missing(tally, NOT_RECORDED);
}
