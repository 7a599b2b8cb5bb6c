/* SPDX-License-Identifier: MIT */
/*
 * A target that a test plays: a stretch of memory at an address that the test
 * chooses.  What lies outside cannot be read.
 */
#ifndef TESTS_UNIT_FAKE_MEMORY_H
#define TESTS_UNIT_FAKE_MEMORY_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "host/elf/target_memory.h"

#define FAKE_BASE 0x7000000000ull
#define FAKE_SIZE 65536

struct fake_memory {
	uint8_t bytes[FAKE_SIZE];
	size_t reads;
};

static inline ssize_t fake_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct fake_memory *fake = context;
	uint64_t offset = address - FAKE_BASE;

	fake->reads++;
	if (offset >= FAKE_SIZE)
		return -EFAULT;
	if (size > FAKE_SIZE - offset)
		size = FAKE_SIZE - offset;
	memcpy(buffer, fake->bytes + offset, size);
	return (ssize_t)size;
}

static inline struct target_memory fake_target(struct fake_memory *fake)
{
	return (struct target_memory){ .read = fake_read, .context = fake };
}

static inline void fake_put(struct fake_memory *fake, uint64_t address, const void *bytes,
			    size_t size)
{
	memcpy(fake->bytes + (address - FAKE_BASE), bytes, size);
}

static inline void fake_word(struct fake_memory *fake, uint64_t address, uint64_t value)
{
	fake_put(fake, address, &value, sizeof(value));
}

#endif
