/* SPDX-License-Identifier: MIT */
#include "host/scope_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/scope_layout.h"
#include "host/deadline_run.h"
#include "host/elf/process_maps.h"
#include "host/host.h"
#include "host/plain_file.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

#define MAPPED_NAME "/memfd:" SCOPE_MEMORY_NAME
#define LINK_TEXT MAPPED_NAME " (deleted)"
#define PATH_SIZE 64
#define MAP_PATIENCE_MS 100
#define CANDIDATES_MAX 64 /* files with the name; a process needs only one */

/* One search, of a process whose directory in the proc tree is open. */
struct search {
	int process;
	const struct scope_file_judge *judge;
	uint64_t mount; /* that all memfds are on */
	unsigned candidates;
};

/* Returns 0 when the link at a path has the name of scope memory, -ESTALE when it has another. */
static int check_link(int dir, const char *path)
{
	char text[sizeof(LINK_TEXT) + 1];
	ssize_t length = readlinkat(dir, path, text, sizeof(text));

	if (length < 0)
		return -errno;
	if (length != sizeof(LINK_TEXT) - 1 || memcmp(text, LINK_TEXT, (size_t)length) != 0)
		return -ESTALE;
	return 0;
}

/* The number of the mount of one of our descriptors.  Does not ask the file system. */
static int mount_of(int fd, uint64_t *ret)
{
	CLEANUP(close_fd) int info = -1;
	char path[PATH_SIZE];
	char text[512];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	length = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	return task_status_number(text, "mnt_id", ret) ? 0 : -ENOENT;
}

/*
 * All memfds are on one internal mount of the kernel.  A file on a file system that a program
 * serves (FUSE) can have the same name, and any request to it may wait for ever.
 */
static int find_mount(uint64_t *ret)
{
	CLEANUP(close_fd) int own = memfd_create(SCOPE_MEMORY_NAME, MFD_CLOEXEC);

	return own < 0 ? -errno : mount_of(own, ret);
}

static int check_mount(struct search *search, int place)
{
	uint64_t found = 0;
	int status = search->mount ? 0 : find_mount(&search->mount);

	if (status == 0)
		status = mount_of(place, &found);
	if (status < 0)
		return status;
	return search->mount == found ? 0 : -ESTALE;
}

/* Opens the file of an O_PATH fd, after checking its name and its mount. */
static int open_checked(struct search *search, int place)
{
	char own[PATH_SIZE];
	int status;

	snprintf(own, sizeof(own), "/proc/self/fd/%d", place);
	status = check_link(AT_FDCWD, own);
	if (status == 0)
		status = check_mount(search, place);
	return status < 0 ? status : plain_file_open(place);
}

/* Opens a candidate and asks the judge.  Returns an fd or a negative errno. */
static int try_place(struct search *search, int place)
{
	CLEANUP(close_fd) int fd = -1;
	int status;

	search->candidates++;
	fd = open_checked(search, place);
	if (fd < 0)
		return fd;
	status = search->judge->accept(search->judge->context, fd);
	return status < 0 ? status : TAKE_FD(fd);
}

static int try_descriptor(struct search *search, int32_t fd)
{
	CLEANUP(close_fd) int place = -1;
	char path[PATH_SIZE];
	int status;

	snprintf(path, sizeof(path), "fd/%" PRId32, fd);
	status = check_link(search->process, path);
	if (status < 0)
		return status;
	place = openat(search->process, path, O_PATH | O_CLOEXEC);
	return place < 0 ? -errno : try_place(search, place);
}

static bool is_exhausted(const struct search *search)
{
	return search->candidates >= CANDIDATES_MAX;
}

/*
 * Chooses the error to report after several places: one that says more than "not there" replaces
 * the former.
 */
static int weigh(int before, int now)
{
	return now == -ENOENT || now == -ESTALE ? before : now;
}

static int search_usual(struct search *search)
{
	int status = -ENOENT;

	for (int i = 0; i < SCOPE_FD_TRIES; i++) {
		int found = try_descriptor(search, SCOPE_FD + i);

		if (found >= 0)
			return found;
		status = weigh(status, found);
	}
	return status;
}

static int search_descriptors(struct search *search)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers fds = { 0 };
	int status = proc_list(search->process, "fd", &fds);

	if (status < 0)
		return status;
	status = -ENOENT;
	for (size_t i = 0; i < fds.list.count && !is_exhausted(search); i++) {
		int found = try_descriptor(search, fds.list.data[i]);

		if (found >= 0)
			return found;
		status = weigh(status, found);
	}
	return status;
}

/*
 * Finds candidates in the memory map, in a thread: the process may hold the lock on its map for as
 * long as it likes, and both listing its mappings and opening one take that lock.
 */
struct map_job {
	int process; /* a descriptor of its own */
	int status;  /* why there are no candidates, or no more */
	int places[CANDIDATES_MAX];
	size_t count;
};

static bool is_candidate(const struct process_mapping *mapping)
{
	return mapping->shared && mapping->deleted && strcmp(mapping->name, MAPPED_NAME) == 0;
}

static void map_job_add(struct map_job *job, const struct process_mapping *mapping)
{
	char path[PATH_SIZE];
	int place;

	snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
	place = openat(job->process, path, O_PATH | O_CLOEXEC);
	if (place < 0)
		job->status = weigh(job->status, -errno);
	else
		job->places[job->count++] = place;
}

static void map_job_run(void *context)
{
	CLEANUP(process_maps_clear) struct process_maps maps = { 0 };
	struct map_job *job = context;

	job->status = process_maps_read(job->process, &maps);
	if (job->status < 0)
		return;
	job->status = -ENOENT;
	for (size_t i = 0; i < maps.mappings.count && job->count < CANDIDATES_MAX; i++)
		if (is_candidate(&maps.mappings.data[i]))
			map_job_add(job, &maps.mappings.data[i]);
}

static void map_job_free(void *context)
{
	struct map_job *job = context;

	if (!job)
		return;
	for (size_t i = 0; i < job->count; i++)
		close(job->places[i]);
	close_fd(&job->process);
	free(job);
}

CLEANUP_POINTER(map_job_free, struct map_job)

static int search_mappings(struct search *search)
{
	CLEANUP(map_job_free_pointer) struct map_job *job = calloc(1, sizeof(*job));
	int status;

	if (!job)
		return -ENOMEM;
	job->process = fcntl(search->process, F_DUPFD_CLOEXEC, 0);
	if (job->process < 0)
		return -errno;
	status = deadline_run(map_job_run, map_job_free, job, MAP_PATIENCE_MS);
	if (status == -ETIMEDOUT)
		job = NULL;
	if (status < 0)
		return status;
	status = job->status;
	for (size_t i = 0; i < job->count && !is_exhausted(search); i++) {
		int found = try_place(search, job->places[i]);

		if (found >= 0)
			return found;
		status = weigh(status, found);
	}
	return status;
}

int scope_file_open(int process, bool everywhere, const struct scope_file_judge *judge)
{
	static int (*const searches[])(struct search * search) = {
		search_usual,
		search_descriptors,
		search_mappings,
	};
	struct search search = { .process = process, .judge = judge };
	size_t count = everywhere ? ARRAY_SIZE(searches) : 1;
	int status = -ENOENT;

	for (size_t i = 0; i < count && !is_exhausted(&search); i++) {
		int found = searches[i](&search);

		if (found >= 0 || found == -EACCES)
			return found;
		if (found == -EINPROGRESS)
			return -ENOENT;
		status = weigh(status, found);
	}
	/* The process may have created the memory after its descriptors were searched. */
	if (status == -EPERM)
		status = weigh(status, search_usual(&search));
	return status == -EINPROGRESS ? -ENOENT : status;
}

int scope_file_probe(const struct host *host, int32_t pid)
{
	char path[PATH_SIZE];
	int status = -ESTALE;

	if (!host->live)
		return -ENOENT;
	for (int i = 0; i < SCOPE_FD_TRIES && status == -ESTALE; i++) {
		snprintf(path, sizeof(path), "%" PRId32 "/fd/%d", pid, SCOPE_FD + i);
		status = check_link(host->proc, path);
	}
	if (status != -ENOENT)
		return status == -ESTALE ? -ENOENT : status;
	snprintf(path, sizeof(path), "%" PRId32, pid);
	return faccessat(host->proc, path, F_OK, 0) < 0 ? -ESRCH : -ENOENT;
}
