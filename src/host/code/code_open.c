/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/code/code_state.h"
#include "host/code/mount_trust.h"
#include "host/deadline_run.h"
#include "host/elf/process_maps.h"
#include "host/host.h"
#include "host/plain_file.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

#define START_TOLERANCE_TICKS 2
#define VDSO_BYTES_MAX ((size_t)1 << 20)

/* A file that is being opened; by a thread, since a file system may not answer. */
struct opening {
	int process;	  /* its directory, or -1: it is gone */
	bool is_verified; /* the caller knows the build id, so the file may be found by its path alone */
	struct process_mapping mapping;
	char path[PATH_MAX];
	int fd; /* the result */
	uint32_t owner;
};

static void opening_free(void *context)
{
	struct opening *opening = context;

	if (!opening)
		return;
	close_fd(&opening->process);
	close_fd(&opening->fd);
	free(opening);
}

CLEANUP_POINTER(opening_free, struct opening)

static uint32_t owner_of(const struct stat *file)
{
	return file->st_uid == 0 || file->st_uid == geteuid() ? CODE_OWNER_TRUSTED : file->st_uid;
}

/* A user can mount a file system of his own, which says that its files are root's. */
static uint32_t believed_owner(int fd, int process)
{
	struct statfs mount;
	struct stat file;

	if (fstat(fd, &file) < 0 || fstatfs(fd, &mount) < 0 || !mount_is_believed(fd, process) ||
	    (file.st_uid == 0 && mount.f_flags & ST_NOSUID))
		return CODE_OWNER_UNKNOWN;
	return owner_of(&file);
}

static bool is_mapped_file(const struct opening *opening, int place)
{
	struct stat file;

	if (opening->is_verified)
		return true;
	return opening->mapping.inode && fstat(place, &file) == 0 &&
	       file.st_ino == opening->mapping.inode && file.st_dev == opening->mapping.device;
}

static int open_in_root(const struct opening *opening, int directory, const char *root_name)
{
	CLEANUP(close_fd) int root = openat(directory, root_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd) int place = root < 0 ? -errno : plain_file_find(root, opening->path);

	if (place < 0)
		return place;
	return is_mapped_file(opening, place) ? plain_file_open(place) : -ESTALE;
}

static void open_mapping(void *context)
{
	struct opening *opening = context;
	int fd = -ESRCH;

	if (opening->process >= 0)
		fd = process_mapping_open(opening->process, &opening->mapping);
	if (fd < 0 && opening->process >= 0)
		fd = open_in_root(opening, opening->process, "root");
	if (fd < 0)
		fd = open_in_root(opening, AT_FDCWD, "/");
	opening->fd = fd;
	if (fd >= 0)
		opening->owner = believed_owner(fd, opening->process);
}

/* Start times in proc are rounded to a clock tick. */
static bool is_same_process(const struct host *host, int process, uint64_t start_ns)
{
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	uint64_t ticks, found_ns;

	if (!start_ns)
		return true;
	if (task_stat_read(process, "stat", buffer, &stat) < 0 ||
	    !task_stat_number(&stat, TASK_STAT_START, &ticks))
		return false;
	found_ns = ticks * host->tick_ns;
	return (found_ns > start_ns ? found_ns - start_ns : start_ns - found_ns) <=
	       START_TOLERANCE_TICKS * host->tick_ns;
}

int code_open_process(const struct code *code, int32_t pid, uint64_t start_ns)
{
	CLEANUP(close_fd) int process = proc_open_number(code->host->proc, pid);

	if (process >= 0 && !is_same_process(code->host, process, start_ns))
		return -ESRCH;
	return process < 0 ? proc_gone(process) : TAKE_FD(process);
}

static struct process_mapping process_mapping_of(const struct code_mapping *mapping)
{
	return (struct process_mapping){
		.start = mapping->start,
		.end = mapping->end,
		.offset = mapping->offset,
		.device = mapping->device,
		.inode = mapping->inode,
		.executable = true,
		.name = mapping->path,
	};
}

uint32_t code_stat_mapping(const struct code *code, const struct code_mapping *mapping, int32_t pid,
			   uint64_t start_ns, struct stat *ret)
{
	CLEANUP(close_fd) int process = code_open_process(code, pid, start_ns);
	const struct process_mapping found = process_mapping_of(mapping);

	*ret = (struct stat){ 0 };
	if (process < 0 || process_mapping_stat(process, &found, ret) < 0)
		return CODE_OWNER_UNKNOWN;
	return owner_of(ret);
}

static struct opening *opening_new(const struct code *code, const struct code_mapping *mapping,
				   int32_t pid, uint64_t start_ns)
{
	struct opening *opening = calloc(1, sizeof(*opening));

	if (!opening)
		return NULL;
	opening->fd = -1;
	opening->process = code_open_process(code, pid, start_ns);
	opening->is_verified = mapping->build_id_size != 0;
	snprintf(opening->path, sizeof(opening->path), "%s", mapping->path);
	opening->mapping = process_mapping_of(mapping);
	opening->mapping.name = opening->path;
	return opening;
}

int code_open_mapping(struct code *code, const struct code_mapping *mapping, int32_t pid,
		      uint64_t start_ns, uint32_t *ret_owner)
{
	CLEANUP(opening_free_pointer) struct opening *opening = NULL;
	struct code_user *user;
	uint64_t begin_ns;
	int status;

	opening = opening_new(code, mapping, pid, start_ns);
	if (!opening)
		return -ENOMEM;
	user = code_user_of_process(code, opening->process);
	if (!code_user_may_open(code, user))
		return -ETIMEDOUT;
	begin_ns = monotonic_ns();
	status = deadline_run(open_mapping, opening_free, opening, code->limits.answer_ms);
	user->waited_ns += monotonic_ns() - begin_ns;
	if (status == -ETIMEDOUT) {
		opening = NULL;
		user->late_opens++;
	}
	if (status < 0)
		return status;
	*ret_owner = opening->owner;
	return TAKE_FD(opening->fd);
}

/* Where the kernel's image ends: behind its section headers. */
static size_t vdso_size(const Elf64_Ehdr *header)
{
	size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;

	return header->e_shoff && end <= VDSO_BYTES_MAX ? end : 0;
}

int code_open_vdso(void)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	CLEANUP(close_fd) int fd = -1;
	size_t size = header ? vdso_size(header) : 0;

	if (!size)
		return -ENOENT;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, header, size) != (ssize_t)size)
		return -EIO;
	return TAKE_FD(fd);
}
