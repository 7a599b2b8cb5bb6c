/* SPDX-License-Identifier: MIT */
#include "trace/stack/image_decoder.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_size;
			uint8_t reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t protection, flags;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid;
	uint32_t tid, parent_tid;
	uint64_t time;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static_assert(sizeof(((struct tracer_image_event *)NULL)->build_id) ==
		      sizeof(((struct mmap2_record *)NULL)->build_id),
	      "build ids have one size");

#define TIME_SIZE sizeof(uint64_t) /* at the end of each record */

static uint64_t time_of(const struct perf_event_header *header)
{
	uint64_t time;

	memcpy(&time, (const char *)header + header->size - TIME_SIZE, sizeof(time));
	return time;
}

static void decode_build_id(const struct mmap2_record *record, struct tracer_image_event *ret)
{
	if (record->build_id_size > sizeof(ret->build_id))
		return;
	ret->build_id_size = record->build_id_size;
	memcpy(ret->build_id, record->build_id, record->build_id_size);
}

static int decode_map(const struct perf_event_header *header, struct tracer_image_event *ret)
{
	const struct mmap2_record *record = (const void *)header;
	const char *path = (const char *)(record + 1);
	size_t room = header->size - sizeof(*record) - TIME_SIZE;

	if (!(record->protection & PROT_EXEC))
		return 0;
	if (!room || !memchr(path, '\0', room) ||
	    record->address + record->length < record->address)
		return -EBADMSG;
	ret->type = TRACER_MAP;
	ret->pid = (int32_t)record->pid;
	ret->start = record->address;
	ret->end = record->address + record->length;
	ret->offset = record->offset;
	ret->path = path;
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		decode_build_id(record, ret);
	} else {
		ret->device = makedev(record->major, record->minor);
		ret->inode = record->inode;
	}
	return 1;
}

static int decode_comm(const struct perf_event_header *header, struct tracer_image_event *ret)
{
	const struct comm_record *record = (const void *)header;

	if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
		return 0;
	ret->type = TRACER_EXEC;
	ret->pid = (int32_t)record->pid;
	return 1;
}

/* A thread has the mappings of its process. */
static int decode_fork(const struct perf_event_header *header, struct tracer_image_event *ret)
{
	const struct fork_record *record = (const void *)header;

	if (record->pid == record->parent_pid || record->pid != record->tid)
		return 0;
	ret->type = TRACER_FORK;
	ret->pid = (int32_t)record->pid;
	ret->parent_pid = (int32_t)record->parent_pid;
	return 1;
}

static const struct {
	uint32_t type;
	size_t size;
	int (*decode)(const struct perf_event_header *header, struct tracer_image_event *ret);
} decoders[] = {
	{ PERF_RECORD_MMAP2, sizeof(struct mmap2_record), decode_map },
	{ PERF_RECORD_COMM, sizeof(struct comm_record), decode_comm },
	{ PERF_RECORD_FORK, sizeof(struct fork_record), decode_fork },
};

int image_record_decode(const void *bytes, size_t length, struct tracer_image_event *ret,
			uint64_t *lost)
{
	const struct perf_event_header *header = bytes;
	const struct lost_record *losing = bytes;

	if (length < sizeof(*header) || header->size > length)
		return -EBADMSG;
	if (header->type == PERF_RECORD_LOST && header->size >= sizeof(*losing)) {
		*lost += losing->lost;
		return 0;
	}
	for (size_t i = 0; i < sizeof(decoders) / sizeof(decoders[0]); i++) {
		if (header->type != decoders[i].type)
			continue;
		if (header->size < decoders[i].size + TIME_SIZE)
			return -EBADMSG;
		*ret = (struct tracer_image_event){ .time_ns = time_of(header) };
		return decoders[i].decode(header, ret);
	}
	return 0;
}
