/* SPDX-License-Identifier: MIT */
#include "host/target_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define SPANS_AT_ONCE 512 /* of the kernel's 1024; more gains nothing */

static ssize_t read_process(void *context, uint64_t address, void *buffer, size_t size)
{
	const pid_t *pid = context;
	struct iovec local = { buffer, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	ssize_t got = process_vm_readv(*pid, &local, 1, &remote, 1, 0);

	return got < 0 ? -errno : got;
}

struct target_memory target_memory_of(pid_t *pid)
{
	return (struct target_memory){ .read = read_process, .context = pid };
}

/* As much as the symbols of a C library take, so that none of its blocks is read twice. */
#define BLOCK_SIZE 4096
#define BLOCKS 32

struct target_cache {
	const struct target_memory *memory;
	struct target_block {
		uint64_t address;
		size_t size; /* 0: nothing is remembered */
	} blocks[BLOCKS];
	uint8_t bytes[BLOCKS][BLOCK_SIZE];
};

/* The block that holds an address, or a negative errno. */
static int fetch_block(struct target_cache *cache, uint64_t address, size_t *ret_number)
{
	size_t number = address / BLOCK_SIZE % BLOCKS;
	struct target_block *block = &cache->blocks[number];
	uint64_t start = address / BLOCK_SIZE * BLOCK_SIZE;
	ssize_t got;

	*ret_number = number;
	if (block->size && block->address == start)
		return 0;
	block->size = 0;
	got = cache->memory->read(cache->memory->context, start, cache->bytes[number], BLOCK_SIZE);
	if (got <= 0)
		return got < 0 ? (int)got : -EFAULT;
	block->address = start;
	block->size = (size_t)got;
	return 0;
}

static ssize_t read_cached(void *context, uint64_t address, void *buffer, size_t size)
{
	struct target_cache *cache = context;
	size_t done = 0;

	while (done < size) {
		size_t offset = (address + done) % BLOCK_SIZE;
		size_t number, part;
		int status = fetch_block(cache, address + done, &number);

		if (status == 0 && cache->blocks[number].size <= offset)
			status = -EFAULT;
		if (status < 0)
			return done ? (ssize_t)done : status;
		part = cache->blocks[number].size - offset;
		part = part < size - done ? part : size - done;
		memcpy((char *)buffer + done, cache->bytes[number] + offset, part);
		done += part;
	}
	return (ssize_t)done;
}

struct target_cache *target_cache_new(const struct target_memory *memory)
{
	struct target_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->memory = memory;
	return cache;
}

struct target_memory target_cache_memory(struct target_cache *cache)
{
	return (struct target_memory){ .read = read_cached, .context = cache };
}

int target_read(const struct target_memory *memory, uint64_t address, void *buffer, size_t size)
{
	ssize_t got = memory->read(memory->context, address, buffer, size);

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EFAULT;
}

/* One system call: bytes that were read from the start of the spans on, or a negative errno. */
static ssize_t read_batch(pid_t pid, const struct target_span *spans, size_t count, size_t size,
			  void *buffer)
{
	struct iovec local = { buffer, count * size };
	struct iovec remote[SPANS_AT_ONCE];
	ssize_t got;

	for (size_t i = 0; i < count; i++)
		remote[i] = (struct iovec){ (void *)(uintptr_t)spans[i].address, size };
	got = process_vm_readv(pid, &local, 1, remote, count, 0);
	return got < 0 ? -errno : got;
}

static void fail_spans(struct target_span *spans, size_t count, int error)
{
	for (size_t i = 0; i < count; i++)
		spans[i].error = error;
}

ssize_t target_read_spans(pid_t pid, struct target_span *spans, size_t count, size_t size,
			  void *buffer)
{
	size_t done = 0, good = 0;

	while (done < count) {
		size_t batch = count - done < SPANS_AT_ONCE ? count - done : SPANS_AT_ONCE;
		ssize_t got =
			read_batch(pid, spans + done, batch, size, (char *)buffer + done * size);
		size_t whole;

		if (got < 0 && got != -EFAULT) {
			fail_spans(spans + done, count - done, (int)got);
			return got;
		}
		/* The kernel ends at the first span that it cannot read, part of which may have come. */
		whole = got < 0 ? 0 : (size_t)got / size;
		fail_spans(spans + done, whole, 0);
		good += whole;
		done += whole;
		if (whole < batch)
			spans[done++].error = -EFAULT;
	}
	return (ssize_t)good;
}
