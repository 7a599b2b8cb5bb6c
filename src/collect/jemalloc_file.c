/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "host/plain_file.h"
#include "host/process_maps.h"
#include "host/target_memory.h"

bool file_is_same(struct file_id one, struct file_id other)
{
	return one.device == other.device && one.inode == other.inode;
}

struct address_range file_place(const struct process_maps *maps, struct file_id id)
{
	struct address_range place = { 0 };

	for (size_t i = 0; i < maps->mappings.count; i++) {
		const struct process_mapping *mapping = &maps->mappings.data[i];

		if (mapping->device != id.device || mapping->inode != id.inode)
			continue;
		if (!place.end)
			place.start = mapping->start;
		place.end = mapping->end;
	}
	return place;
}

/* A process can have its link lead elsewhere: it counts where it leads to what is mapped. */
static int open_executable(int process, const struct process_mapping *mapping)
{
	CLEANUP(close_fd) int place = openat(process, "exe", O_PATH | O_CLOEXEC);
	struct stat file;

	if (place < 0 || fstat(place, &file) < 0)
		return -errno;
	if (file.st_dev != mapping->device || file.st_ino != mapping->inode)
		return -ESTALE;
	return plain_file_open(place);
}

int file_open(int process, const struct process_mapping *mapping, bool is_executable)
{
	int fd = process_mapping_open(process, mapping);
	int linked;

	if (fd >= 0 || !is_executable)
		return fd;
	linked = open_executable(process, mapping);
	return linked < 0 ? fd : linked;
}

bool file_is_program(int32_t tgid, struct address_range place)
{
	pid_t pid = tgid;
	struct target_memory memory = target_memory_of(&pid);
	char start[SELFMAG];

	return target_read(&memory, place.start, start, sizeof(start)) == 0 &&
	       memcmp(start, ELFMAG, sizeof(start)) == 0;
}
