/* SPDX-License-Identifier: MIT */
/*
 * The shared memory of libtaskscope, made by hand: this process looks like a program with scopes.
 */
#ifndef OWN_SCOPES_H
#define OWN_SCOPES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/scope_layout.h"

/* Far more blocks than this process has threads, each with a scope of a second. */
enum {
	BLOCKS = 4096,
	BLOCK_SIZE = 1024,
	BLOCKS_OFFSET = 8192,
	FRAME_OFFSET = offsetof(struct scope_thread, frames),
	MEMORY_SIZE = BLOCKS_OFFSET + BLOCKS * BLOCK_SIZE,
};

struct own_scopes {
	char *memory;
	int fd;
};

static inline struct scope_thread *own_block(struct own_scopes *own, size_t slot)
{
	return (struct scope_thread *)(own->memory + BLOCKS_OFFSET + slot * BLOCK_SIZE);
}

static inline void own_scopes_fill(struct own_scopes *own)
{
	*(struct scope_header *)own->memory = (struct scope_header){
		.magic = SCOPE_MAGIC,
		.version = SCOPE_VERSION,
		.state = SCOPE_STATE_ON,
		.label_offset = SCOPE_HEADER_SIZE,
		.label_size = SCOPE_LABEL_SIZE,
		.statistic_size = sizeof(struct scope_statistic),
		.thread_offset = BLOCKS_OFFSET,
		.thread_size = BLOCK_SIZE,
		.thread_max = BLOCKS,
		.frame_offset = FRAME_OFFSET,
		.frame_size = sizeof(struct scope_frame),
		.frame_max = 1,
		.bucket_count = SCOPE_BUCKETS,
		.pid = getpid(),
		.clock = SCOPE_CLOCK_MONOTONIC,
		.thread_count = BLOCKS,
	};
	for (size_t i = 0; i < BLOCKS; i++) {
		struct scope_frame *frame =
			(struct scope_frame *)((char *)own_block(own, i) + FRAME_OFFSET);

		own_block(own, i)->depth = 1;
		frame->generation = 1;
		frame->entered_ticks = 1;
	}
}

/* Nobody has a block yet. */
static inline void own_scopes_open(struct own_scopes *own)
{
	int fd = memfd_create(SCOPE_MEMORY_NAME, MFD_CLOEXEC);

	*own = (struct own_scopes){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, SCOPE_FD) };
	close(fd);
	assert_int_equal(ftruncate(own->fd, MEMORY_SIZE), 0);
	own->memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, own->fd, 0);
	assert_ptr_not_equal(own->memory, MAP_FAILED);
	own_scopes_fill(own);
}

static inline void own_scopes_close(struct own_scopes *own)
{
	munmap(own->memory, MEMORY_SIZE);
	close(own->fd);
}

#endif
