/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel has its variables of each CPU, from its description of its types.  libbpf would
 * copy, index and search all of that; here one walk over it is enough, and takes a tenth of the time.
 */
#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "host/bpf.h"
#include "host/host.h"

#define PERCPU_SECTION ".data..percpu"
#define TYPES_FILE "kernel/btf/vmlinux"
#define TYPES_MOST (64 << 20) /* more than any kernel has */

/* The count is a variable of its own; from 6.2 to 6.14 it is in pcpu_hot. */
enum { RUN_QUEUES, HOT, PREEMPT_COUNT, VARIABLES };
static const char *const names[VARIABLES] = { "runqueues", "pcpu_hot", "__preempt_count" };

/* What follows a struct btf_type: some bytes, and some for each of its members. */
static const struct {
	uint8_t bytes, each;
} followed_by[] = {
	[BTF_KIND_INT] = { 4, 0 },
	[BTF_KIND_ARRAY] = { sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { 0, sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { 0, sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { 0, sizeof(struct btf_enum) },
	[BTF_KIND_FUNC_PROTO] = { 0, sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { sizeof(struct btf_var), 0 },
	[BTF_KIND_DATASEC] = { 0, sizeof(struct btf_var_secinfo) },
	[BTF_KIND_DECL_TAG] = { sizeof(struct btf_decl_tag), 0 },
	[BTF_KIND_ENUM64] = { 0, sizeof(struct btf_enum64) },
};

struct description {
	const char *types, *names;
	size_t types_length, names_length;
};

static bool read_header(const char *bytes, size_t length, struct description *ret)
{
	struct btf_header header;

	if (length < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len > length)
		return false;
	length -= header.hdr_len;
	if ((header.hdr_len + header.type_off) % sizeof(uint32_t) || header.type_off > length ||
	    header.type_len > length - header.type_off || header.str_off > length ||
	    header.str_len > length - header.str_off)
		return false;
	ret->types = bytes + header.hdr_len + header.type_off;
	ret->types_length = header.type_len;
	ret->names = bytes + header.hdr_len + header.str_off;
	ret->names_length = header.str_len;
	return true;
}

static bool is_named(const struct description *description, const struct btf_type *type,
		     const char *name)
{
	size_t size = strlen(name) + 1;

	return type->name_off < description->names_length &&
	       size <= description->names_length - type->name_off &&
	       memcmp(description->names + type->name_off, name, size) == 0;
}

/* The size of a type with all that follows it; 0: it is of no known kind, or is cut off. */
static size_t type_size(const struct btf_type *type, size_t length)
{
	size_t size = sizeof(*type);
	uint32_t kind;

	if (length < size)
		return 0;
	kind = BTF_INFO_KIND(type->info);
	if (kind == BTF_KIND_UNKN || kind >= ARRAY_SIZE(followed_by))
		return 0;
	size += followed_by[kind].bytes + BTF_INFO_VLEN(type->info) * followed_by[kind].each;
	return size <= length ? size : 0;
}

/* The section of the variables, with the ids of those that are looked for; NULL: not found. */
static const struct btf_type *find_section(const struct description *description,
					   uint32_t ids[VARIABLES])
{
	const struct btf_type *section = NULL;
	size_t at = 0, size;

	for (uint32_t id = 1; at < description->types_length; id++, at += size) {
		const struct btf_type *type = (const void *)(description->types + at);
		uint32_t kind;

		size = type_size(type, description->types_length - at);
		if (!size)
			return NULL;
		kind = BTF_INFO_KIND(type->info);
		if (kind == BTF_KIND_DATASEC && is_named(description, type, PERCPU_SECTION))
			section = type;
		for (size_t i = 0; kind == BTF_KIND_VAR && i < VARIABLES; i++)
			if (is_named(description, type, names[i]))
				ids[i] = id;
	}
	return section;
}

int64_t bpf_percpu_distance(const void *bytes, size_t length)
{
	struct description description;
	uint32_t ids[VARIABLES] = { 0 };
	int64_t offsets[VARIABLES] = { 0 };
	bool found[VARIABLES] = { false };
	const struct btf_var_secinfo *variables;
	const struct btf_type *section;

	if (!read_header(bytes, length, &description))
		return 0;
	section = find_section(&description, ids);
	variables = section ? (const void *)(section + 1) : NULL;
	for (uint32_t i = 0; section && i < BTF_INFO_VLEN(section->info); i++)
		for (size_t variable = 0; variable < VARIABLES; variable++)
			if (ids[variable] && variables[i].type == ids[variable]) {
				offsets[variable] = variables[i].offset;
				found[variable] = true;
			}
	if (!found[RUN_QUEUES] || (!found[HOT] && !found[PREEMPT_COUNT]))
		return 0;
	return offsets[found[HOT] ? HOT : PREEMPT_COUNT] - offsets[RUN_QUEUES];
}

/* Kernels before 6.16 cannot map the file. */
static int64_t read_distance(int fd, size_t length)
{
	CLEANUP(free_pointer) char *bytes = malloc(length);
	ssize_t got = bytes ? file_read_at(fd, 0, bytes, length) : -1;

	return got > 0 ? bpf_percpu_distance(bytes, (size_t)got) : 0;
}

int64_t host_bpf_preempt_distance(const struct host *host)
{
	CLEANUP(close_fd) int fd = file_open_below(host->sys, TYPES_FILE, O_RDONLY);
	struct stat file;
	int64_t distance;
	void *bytes;
	size_t length;

	if (fd < 0 || fstat(fd, &file) < 0 || file.st_size <= 0 || file.st_size > TYPES_MOST)
		return 0;
	length = (size_t)file.st_size;
	bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return read_distance(fd, length);
	distance = bpf_percpu_distance(bytes, length);
	munmap(bytes, length);
	return distance;
}
