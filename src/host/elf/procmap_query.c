/* SPDX-License-Identifier: MIT */
#include "host/elf/process_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

/* PROCMAP_QUERY of linux/fs.h, which is newer than the headers that we build with. */
struct query {
	uint64_t size;
	uint64_t flags;
	uint64_t address;
	uint64_t start, end;
	uint64_t found_flags;
	uint64_t page_size;
	uint64_t offset;
	uint64_t inode;
	uint32_t device_major, device_minor;
	uint32_t name_size; /* in: room; out: with the NUL, 0 for none */
	uint32_t build_id_size;
	uint64_t name;
	uint64_t build_id;
};

#define QUERY _IOWR('f', 17, struct query)
#define EXECUTABLE 0x04
#define SHARED 0x08
#define COVERING_OR_NEXT 0x10
#define FILE_BACKED 0x20

static int add_mapping(const struct query *found, const char *name, struct process_maps *maps)
{
	const struct process_mapping mapping = {
		.start = found->start,
		.end = found->end,
		.offset = found->offset,
		.device = makedev(found->device_major, found->device_minor),
		.inode = found->inode,
		.executable = found->found_flags & EXECUTABLE,
		.shared = found->found_flags & SHARED,
	};

	return process_maps_add(maps, &mapping, name, strlen(name));
}

int procmap_query_files(int fd, struct process_maps *maps)
{
	char name[PATH_MAX + sizeof(" (deleted)")];
	uint64_t address = 0;

	for (;;) {
		struct query query = {
			.size = sizeof(query),
			.flags = COVERING_OR_NEXT | (maps->is_of_code ? EXECUTABLE : FILE_BACKED),
			.address = address,
			.name_size = sizeof(name),
			.name = (uintptr_t)name,
		};
		int status = 0;

		name[0] = '\0';
		if (ioctl(fd, QUERY, &query) < 0)
			return errno == ENOENT ? 0 : -errno;
		name[sizeof(name) - 1] = '\0';
		/* The map may change between two questions; never go back to lower addresses. */
		if (query.end <= address)
			return -EBADMSG;
		address = query.end;
		if (query.inode || maps->is_of_code)
			status = add_mapping(&query, query.name_size ? name : "", maps);
		if (status < 0)
			return status;
	}
}
