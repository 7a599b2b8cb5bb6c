/* SPDX-License-Identifier: MIT */
#include "host/elf/target_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"

#define SPANS_AT_ONCE 512 /* the kernel allows 1024; more than this gains nothing */

/*
 * Waits for the lock on the process's memory map in a way that our own exit can interrupt.  A wait
 * in process_vm_readv() cannot be interrupted: a thread that waits there keeps us from exiting for
 * as long as the other process likes.  That can still happen if the process takes the lock between
 * the two calls.
 */
static void await_map(pid_t pid)
{
	CLEANUP(close_fd) int fd = -1;
	char path[32], byte;

	snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)!read(fd, &byte, 1);
}

/*
 * Makes one system call.  Returns the bytes that were read, from the first span on, or a negative
 * errno.
 */
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

static ssize_t read_process(void *context, uint64_t address, void *buffer, size_t size)
{
	const struct target_span span = { .address = address };
	const pid_t *pid = context;

	await_map(*pid);
	return read_batch(*pid, &span, 1, size, buffer);
}

struct target_memory target_memory_of(pid_t *pid)
{
	return (struct target_memory){ .read = read_process, .context = pid };
}

#define PAGE_PRESENT ((uint64_t)1 << 63)

bool target_page_is_present(int pagemap, uint64_t address)
{
	uint64_t page = address / (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entry;

	return pread(pagemap, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
		       sizeof(entry) &&
	       entry & PAGE_PRESENT;
}

/*
 * Reads up to the first page that is not present.  Reading the pagemap waits for the lock on the memory
 * map, as await_map() does.
 */
static ssize_t read_present(void *context, uint64_t address, void *buffer, size_t size)
{
	struct present_memory *present = context;
	const struct target_span span = { .address = address };
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t end = address;

	if (present->pagemap < 0)
		return read_process(&present->pid, address, buffer, size);
	while (end < address + size && target_page_is_present(present->pagemap, end))
		end = (end / page_size + 1) * page_size;
	if (end == address)
		return -EAGAIN;
	return read_batch(present->pid, &span, 1, end < address + size ? end - address : size,
			  buffer);
}

static ssize_t read_whole(void *context, uint64_t address, void *buffer, size_t size)
{
	struct present_memory *present = context;
	const struct target_span span = { .address = address };

	if (present->pagemap < 0)
		return read_process(&present->pid, address, buffer, size);
	(void)target_page_is_present(present->pagemap, address); /* waits as await_map() does */
	return read_batch(present->pid, &span, 1, size, buffer);
}

struct target_memory target_memory_whole(struct present_memory *present)
{
	return (struct target_memory){ .read = read_whole, .context = present };
}

struct target_memory target_memory_present(struct present_memory *present)
{
	return (struct target_memory){ .read = read_present, .context = present };
}

/* Enough blocks for the symbols of a C library, so that no block is read twice. */
#define BLOCK_SIZE 4096
#define BLOCKS 32

struct target_cache {
	const struct target_memory *memory;
	struct target_block {
		uint64_t address;
		size_t size; /* 0: the block is empty */
	} blocks[BLOCKS];
	uint8_t bytes[BLOCKS][BLOCK_SIZE];
};

/* Finds or reads the block that holds an address.  0 or a negative errno. */
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
		size_t whole;
		ssize_t got;

		await_map(pid);
		got = read_batch(pid, spans + done, batch, size, (char *)buffer + done * size);
		if (got < 0 && got != -EFAULT) {
			fail_spans(spans + done, count - done, (int)got);
			return got;
		}
		/*
		 * The kernel stops at the first span that it cannot read, or in the middle of it.
		 */
		whole = got < 0 ? 0 : (size_t)got / size;
		fail_spans(spans + done, whole, 0);
		good += whole;
		done += whole;
		if (whole < batch)
			spans[done++].error = -EFAULT;
	}
	return (ssize_t)good;
}
