/* SPDX-License-Identifier: MIT */
/*
 * The fuzzer as a target process: its bytes are the memory from address 0 on.
 *
 * The first byte decides how steady that memory is: every so many reads, one byte
 * of what is read comes out changed.  Reads are counted, so that a walk which
 * never ends is told from a long one.
 */
#ifndef TESTS_FUZZ_FUZZ_TARGET_H
#define TESTS_FUZZ_FUZZ_TARGET_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "fuzz_text.h"
#include "host/elf/target_memory.h"

struct fuzz_target {
	const uint8_t *data;
	size_t size;
	size_t reads, limit;
};

static inline ssize_t fuzz_target_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct fuzz_target *target = context;
	uint8_t unsteady = target->data[0];

	fuzz_require(++target->reads <= target->limit);
	if (address >= target->size)
		return -EFAULT;
	if (size > target->size - address)
		size = target->size - (size_t)address;
	memcpy(buffer, target->data + address, size);
	if (unsteady && size && target->reads % unsteady == 0)
		((uint8_t *)buffer)[target->reads % size] ^= (uint8_t)target->reads;
	return (ssize_t)size;
}

static inline struct target_memory fuzz_target_memory(struct fuzz_target *target)
{
	return (struct target_memory){ .read = fuzz_target_read, .context = target };
}

#endif
